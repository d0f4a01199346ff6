import type { Outcome } from '../account/types';
import { closedError, isStripError, StripError } from '../api/errors';
import { sameMac } from '../api/mac';
import { choiceOf, SETTINGS } from '../settings';
import { CommandReader, type SwitchRequest } from './command';
import type { Requested, Target } from './input-fields';
import type { Handle, HandlerContext } from './input-handler';
import {
  CommandsFailed,
  failedStrip,
  type FailedStrip,
  type KnownOutlets,
  type SwitchedStrip,
} from './node-error';
import { outletStatus, stripStatus, SWITCHED, type NodeStatus } from './node-status';
import type { SharedAccount } from './shared-account';

/** The form of the payload that is sent: as it was asked, or fixed in the node. */
type Output = 'same' | 'on' | 'port-on';

/** What `strip switch` does with a message. */
export function switchHandler({ config, evaluate, account, owner }: HandlerContext): Handle {
  const reader = new CommandReader(config, evaluate);
  const output = choiceOf(config, 'output', SETTINGS['strip switch'].output);
  return async (input) => {
    const request = await reader.read(input.msg, input.target);
    if (input.ended) throw closedError('notSent');
    const shared = account();
    const { onProgress } = input;
    input.submitted = true;
    const outcomes = await Promise.allSettled(
      request.commands.map(({ command }) => shared.run(command, { owner, onProgress })),
    );
    const succeeded = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value);
    if (succeeded.length < outcomes.length) throw failureOf(request, outcomes, shared);
    const message = Object.assign(input.msg, answerOf(request, succeeded, output));
    return { messages: [message], status: statusOf(shared, succeeded) };
  };
}

/** The properties of the message once all commands are confirmed. `outcomes`: in the order of the commands. */
function answerOf(
  { form, commands }: SwitchRequest,
  outcomes: readonly Outcome[],
  output: Output,
): { payload: unknown; strip: SwitchedStrip | SwitchedStrip[]; response: unknown } {
  const strips = outcomes.map((outcome, index) =>
    switchedStrip(commands[index]?.requested ?? outcome.on, outcome),
  );
  const [outcome] = outcomes;
  const [strip] = strips;
  if (outcome !== undefined && strip !== undefined && (form === 'on' || form === 'port-on')) {
    const isOn = (output === 'same' ? form : output) === 'on';
    return { payload: isOn ? outcome.on : outletOf(outcome), strip, response: outcome.response };
  }
  return {
    payload: severalPayload(form, outcomes, output),
    strip: strips,
    response: outcomes.map(({ response }) => response),
  };
}

function severalPayload(form: SwitchRequest['form'], outcomes: readonly Outcome[], output: Output): unknown {
  if (output === 'on') return outcomes.map(({ on }) => on);
  if (output === 'port-on' || form !== 'strip') return outcomes.map(outletOf);
  return { mac: outcomes[0]?.mac, outlets: outcomes.map(({ port, on }) => ({ port, on })) };
}

const outletOf = ({ mac, port, on }: Outcome) => ({ mac, port, on });

function switchedStrip(requested: Requested, outcome: Outcome): SwitchedStrip {
  const { mac, name, port, outlet, on, results, skipped, at } = outcome;
  const strip: SwitchedStrip = { mac, name, port, outlet, on, requested, success: true, results, at };
  if (skipped !== undefined) strip.skipped = skipped;
  return strip;
}

/** Why not all commands of a message succeeded: the error itself if the message was about one outlet, else one error for all. */
function failureOf(
  { form, commands }: SwitchRequest,
  outcomes: readonly PromiseSettledResult<Outcome>[],
  known: KnownOutlets,
): unknown {
  const failures: { target: Target; error: StripError }[] = [];
  const strips: (SwitchedStrip | FailedStrip)[] = [];
  for (const [index, { command, requested }] of commands.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'fulfilled') {
      strips.push(switchedStrip(requested, outcome.value));
      continue;
    }
    const error: unknown = outcome?.reason;
    if (!isStripError(error) || form === 'on' || form === 'port-on') return error;
    const target = { mac: command.mac, port: command.port, requested };
    failures.push({ target, error });
    strips.push(failedStrip(target, error, known));
  }
  return new CommandsFailed(failures, strips);
}

function statusOf(account: SharedAccount, outcomes: readonly Outcome[]): NodeStatus {
  const [first] = outcomes;
  if (first === undefined || !outcomes.every(({ mac }) => sameMac(mac, first.mac))) return SWITCHED;
  if (outcomes.length === 1 && first.port !== 'all') return outletStatus(first.on);
  const strip = account.strip(first.mac);
  // The service has just answered for this strip, even if the latest list did not have it.
  return strip === undefined ? outletStatus(first.on) : stripStatus({ ...strip, available: true });
}
