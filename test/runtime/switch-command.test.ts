import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { account, debug, inject, placed, tab } from '../support/flow';
import { REPOSITORY, startNodeRed } from '../support/node-red';
import { STRIPS, startService } from '../support/service';

/** Gives function nodes `calls`: the package's functions that were called since the last time, by file. */
const COVERAGE = `
const { Session } = require('node:inspector/promises');
const session = new Session();
session.connect();
const started = session
  .post('Profiler.enable')
  .then(() => session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false }));
const calls = async () => {
  await started;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) => {
    const file = /\\/dist\\/((?:src|nodes)\\/.*)\\.js$/.exec(url)?.[1];
    const called = functions.filter(({ ranges: [whole] }) => whole.count > 0);
    const names = called.map(({ functionName }) => functionName.replace('get ', ''));
    return file === undefined || called.length === 0 ? [] : [[file + '.ts', names]];
  });
};
settings.functionGlobalContext = { calls };`;

/** The files that docs/architecture.md names, with the calls in its table. */
function documented(): Map<string, string[]> {
  const text = readFileSync(join(REPOSITORY, 'docs/architecture.md'), 'utf8');
  const section = /^## The path of a switch command$(.*?)^## /ms.exec(text)?.[1] ?? '';
  const quoted = (part: string) => [...part.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const isFile = (name: string) => /^(src|nodes)\//.test(name);
  return new Map(
    section.split('\n').flatMap((line) => {
      const [, , calls = ''] = line.split('|');
      return quoted(line)
        .filter(isFile)
        .map((file) => [file, quoted(calls)] as const);
    }),
  );
}

describe('the path of a switch command', () => {
  it('goes through at most 20 files: those that docs/architecture.md lists, with the calls that it lists', async () => {
    const service = await startService();
    const red = await startNodeRed({ settingsScript: COVERAGE });
    const functionNode = (id: string, func: string, to: string) => placed(id, 'function', { func }, [to]);
    try {
      await red.deploy([
        tab,
        account(service),
        inject('in', 'forget'),
        functionNode('forget', "await global.get('calls')(); return msg;", 'switch'),
        placed('switch', 'strip switch', { portType: 'message' }, ['tell']),
        functionNode('tell', "msg.calls = await global.get('calls')(); return msg;", 'out'),
        debug('out'),
      ]);
      const [{ mac }] = STRIPS;
      const callsFor = async (payload: object): Promise<Map<string, string[]>> => {
        const after = red.comms.mark;
        await red.inject('in', { payload });
        return new Map((await red.debug('out', after)).calls as [string, string[]][]);
      };
      // The first message creates the account and its client.
      await callsFor({ mac, port: 2, on: true });
      const called = await callsFor({ mac, port: 2, on: false });
      const table = documented();
      assert.deepEqual([...called.keys()].sort(), [...table.keys()].sort());
      assert.ok(called.size <= 20, `${called.size} files`);
      for (const [file, names] of table) {
        const others = names.filter((name) => called.get(file)?.includes(name) !== true);
        assert.deepEqual(others, [], `${file}: not called`);
      }
    } finally {
      await red.stop();
      await service.close();
    }
  });
});
