import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { account, debug, inject, placed, tab } from '../support/flow';
import { REPOSITORY, startNodeRed } from '../support/node-red';
import { STRIPS, startService } from '../support/service';

/** Gives function nodes `calledFiles`: the package's files with a function that was called since the last time. */
const COVERAGE = `
const { Session } = require('node:inspector/promises');
const session = new Session();
session.connect();
const started = session
  .post('Profiler.enable')
  .then(() => session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false }));
const calledFiles = async () => {
  await started;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const called = result.filter(({ functions }) => functions.some(({ ranges: [whole] }) => whole.count > 0));
  return called.flatMap(({ url }) => /\\/dist\\/((?:src|nodes)\\/.*)\\.js$/.exec(url)?.[1] ?? []);
};
settings.functionGlobalContext = { calledFiles };`;

/** Files that docs/architecture.md names. */
function documentedFiles(): string[] {
  const text = readFileSync(join(REPOSITORY, 'docs/architecture.md'), 'utf8');
  const section = /^## The way of a switch command$(.*?)^## /ms.exec(text)?.[1] ?? '';
  return [...section.matchAll(/`((?:src|nodes)\/\S+)\.ts`/g)].map(([, file = '']) => file);
}

describe('the way of a switch command', () => {
  it('goes through the files that docs/architecture.md lists, and no other', async () => {
    const service = await startService();
    const red = await startNodeRed({ settingsScript: COVERAGE });
    const functionNode = (id: string, func: string, to: string) => placed(id, 'function', { func }, [to]);
    try {
      await red.deploy([
        tab,
        account(service),
        inject('in', 'forget'),
        functionNode('forget', "await global.get('calledFiles')(); return msg;", 'switch'),
        placed('switch', 'strip switch', { portType: 'message' }, ['tell']),
        functionNode('tell', "msg.files = await global.get('calledFiles')(); return msg;", 'out'),
        debug('out'),
      ]);
      const [{ mac }] = STRIPS;
      const filesFor = async (payload: object): Promise<unknown> => {
        const after = red.comms.mark;
        await red.inject('in', { payload });
        return (await red.debug('out', after)).files;
      };
      // The first message creates the account and its client.
      await filesFor({ mac, port: 2, on: true });
      const files = await filesFor({ mac, port: 2, on: false });
      assert.deepEqual((files as string[]).sort(), documentedFiles().sort());
    } finally {
      await red.stop();
      await service.close();
    }
  });
});
