import type { Outcome, Progress } from '../account/types';
import { StripError } from '../api/errors';
import { sameMac } from '../api/mac';
import { answerOf } from './answer';
import { CommandReader, type Order } from './command';
import { SETTINGS } from '../settings';
import { choiceOf, type Config } from './config';
import { severalFailed } from './failure';
import type { Evaluate, Message } from './field';
import type { Answered, Work } from './input';
import type { Live } from './live';
import { outletMark, stripMark, SWITCHED, type Mark } from './marks';

/** What `strip switch` does with a message. `live` throws NOT_CONFIGURED or CLOSED. */
export function switchWork(config: Config, evaluate: Evaluate, live: () => Live): Work {
  const reader = new CommandReader(config, evaluate);
  const output = choiceOf(config, 'output', SETTINGS['strip switch'].output);

  const run = (
    msg: Message,
    order: Order,
    progress: (progress: Progress) => void,
  ): Answered | Promise<Answered> => {
    const account = live();
    const finish = (outcomes: readonly Outcome[]): Answered => ({
      messages: [Object.assign(msg, answerOf(order, outcomes, output))],
      mark: markOf(account, outcomes),
    });
    const [only] = order.commands;
    if (only !== undefined && (order.form === 'on' || order.form === 'port-on')) {
      return account.run(only.command, { onProgress: progress }).then((outcome) => finish([outcome]));
    }
    return runAll(account, order, progress).then(finish);
  };

  return (msg, seen, progress, isOver) => {
    const order = reader.read(msg, seen);
    if (!(order instanceof Promise)) return run(msg, order, progress);
    return order.then((read) => {
      if (isOver()) throw new StripError('CLOSED', 'CLOSED.account');
      return run(msg, read, progress);
    });
  };
}

/** All commands run to the end, whatever becomes of the others. */
async function runAll(
  account: Live,
  { commands }: Order,
  progress: (progress: Progress) => void,
): Promise<Outcome[]> {
  const outcomes = await Promise.allSettled(
    commands.map(({ command }) => account.run(command, { onProgress: progress })),
  );
  const fulfilled = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  if (fulfilled.length < outcomes.length) {
    throw severalFailed(commands, outcomes, (mac, port) => account.lastKnown(mac, port));
  }
  return fulfilled.map(({ value }) => value);
}

function markOf(account: Live, outcomes: readonly Outcome[]): Mark {
  const [first] = outcomes;
  if (first === undefined || !outcomes.every(({ mac }) => sameMac(mac, first.mac))) return SWITCHED;
  if (outcomes.length === 1 && first.port !== 'all') return outletMark(first.on);
  const strip = account.strip(first.mac);
  // The service has just answered for it; whether a list has it is another matter.
  return strip === undefined ? outletMark(first.on) : stripMark({ ...strip, available: true });
}
