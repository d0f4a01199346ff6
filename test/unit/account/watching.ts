import type { Change, SubscribeOptions } from '../../../src/account/types';
import { listOf } from '../../support/scripted-service';
import { said, type Bench } from './support';

/** A subscriber that notes what it hears of strips. */
export function watch(lab: Bench, options: SubscribeOptions = {}) {
  const heard: string[] = [];
  const changes: Change[] = [];
  const stop = lab.account.subscribe((change) => {
    if (change.kind === 'account') return;
    heard.push(said(change));
    changes.push(change);
  }, options);
  return { changes, stop, take: () => heard.splice(0) };
}

/** Lets a list arrive now. */
export async function list(lab: Bench, ...strips: Parameters<typeof listOf>): Promise<void> {
  const reading = lab.account.list();
  await lab.service.lists.at(-1)?.answer(listOf(...strips));
  await reading;
}
