import type { Change } from '../../../src/account/types';
import { listOf } from '../../support/scripted-service';
import { said, type TestAccount } from './support';

/** A subscriber that notes what it hears of strips; where not `initial`, without what it could not know before. */
export function watch(
  lab: TestAccount,
  { initial = false, readings }: { initial?: boolean; readings?: readonly string[] | 'all' } = {},
) {
  const heard: string[] = [];
  const changes: Change[] = [];
  const stop = lab.account.subscribe((change) => {
    if (change.kind === 'account') return;
    const isNew = change.kind === 'strip' && change.isNew;
    if (!initial && !isNew && 'previous' in change && change.previous === null) return;
    heard.push(said(change));
    changes.push(change);
  }, readings);
  return { changes, stop, take: () => heard.splice(0) };
}

/** Lets a list arrive now. */
export async function list(lab: TestAccount, ...strips: Parameters<typeof listOf>): Promise<void> {
  const reading = lab.account.list();
  await lab.service.lists.at(-1)?.answer(listOf(...strips));
  await reading;
}
