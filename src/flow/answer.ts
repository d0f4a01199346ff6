import type { Outcome } from '../account/types';
import type { PortOrAll, SwitchResult } from '../api/types';
import type { Order } from './command';
import type { Requested } from './words';

/** The form of the answer: as it was asked, or fixed in the node. */
export type Output = 'same' | 'on' | 'port-on';

/** What `msg.strip` says of a command that was carried out. */
export interface SwitchedStrip {
  mac: string;
  port: PortOrAll;
  on: boolean;
  requested: Requested;
  success: true;
  results: SwitchResult[];
  /** Protected outlets that an "all" left alone. */
  skipped?: number[];
  at: string;
}

/** What a message gets once all it asked for has been confirmed. */
export interface Answer {
  payload: unknown;
  strip: SwitchedStrip | SwitchedStrip[];
  response: unknown;
}

/** `outcomes` in the order of the commands; at least one. */
export function answerOf({ form, commands }: Order, outcomes: readonly Outcome[], output: Output): Answer {
  const strips = outcomes.map((outcome, index) =>
    successOf(commands[index]?.requested ?? outcome.on, outcome),
  );
  const [first] = outcomes;
  const [strip] = strips;
  if (first !== undefined && strip !== undefined && (form === 'on' || form === 'port-on')) {
    const shape = output === 'same' ? form : output;
    return { payload: shape === 'on' ? first.on : outletOf(first), strip, response: first.response };
  }
  return {
    payload: manyOf(form, outcomes, output),
    strip: strips,
    response: outcomes.map(({ response }) => response),
  };
}

export function successOf(
  requested: Requested,
  { mac, port, on, results, skipped, at }: Outcome,
): SwitchedStrip {
  const left = skipped === undefined ? {} : { skipped: [...skipped] };
  return { mac, port, on, requested, success: true, results, ...left, at };
}

const outletOf = ({ mac, port, on }: Outcome) => ({ mac, port, on });

function manyOf(form: Order['form'], outcomes: readonly Outcome[], output: Output): unknown {
  if (output === 'on') return outcomes.map(({ on }) => on);
  if (output === 'port-on' || form !== 'strip') return outcomes.map(outletOf);
  return { mac: outcomes[0]?.mac, outlets: outcomes.map(({ port, on }) => ({ port, on })) };
}
