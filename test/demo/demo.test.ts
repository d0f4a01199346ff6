import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectAsync } from 'mqtt';
import { REPOSITORY } from '../support/node-red-install';
import { HAS_SIGNALS, freePorts } from '../support/program';
import { Recorder } from '../support/recorder';
import { startListening } from '../support/start-listening';
import { until } from '../support/until';

describe('the demo', () => {
  let place: string;

  // In a copy, because it keeps what a developer changed in the repository's own.
  before(() => {
    place = mkdtempSync(path.join(tmpdir(), 'smart-strip-demo-'));
    for (const name of ['package.json', 'dist', 'resources', 'examples', '.config']) {
      cpSync(path.join(REPOSITORY, name), path.join(place, 'clone', name), { recursive: true });
    }
    symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(place, 'clone/node_modules'), 'junction');
    mkdirSync(path.join(place, 'home'));
  });

  after(() => rmSync(place, { recursive: true, force: true }));

  const run = (port?: string, mqttPort?: string) => {
    const child = spawn(process.execPath, ['.config/demo.mjs'], {
      cwd: path.join(place, 'clone'),
      env: {
        PATH: process.env.PATH,
        HOME: path.join(place, 'home'),
        ...(port && { PORT: port }),
        ...(mqttPort && { MQTT_PORT: mqttPort }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const written = new Recorder<string>();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
    }
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, written, ended, text: () => written.items.join('') };
  };

  it('says in one line that the port it was told is taken, and how to choose another', async () => {
    const server = createServer();
    const port = await startListening(server);
    const { ended, text } = run(String(port));
    assert.equal(await ended, 1);
    assert.match(text(), new RegExp(`^Port ${port} is taken: set the environment variable PORT .*\n$`));
    server.close();
  });

  it('takes the next free port if it was told none and 1880 is taken', async () => {
    const server = createServer();
    // If this fails, 1880 is taken already.
    await once(server.listen(1880, '127.0.0.1'), 'listening').catch(() => undefined);
    const { child, written, ended, text } = run();
    try {
      await written.find('address', (line) => line.includes('MQTT'));
      const [editor = ''] = /http:\S+/.exec(text()) ?? [];
      assert.notEqual(new URL(editor).port, '1880');
      assert.equal((await fetch(editor)).status, 200);
    } finally {
      child.kill();
      await ended;
      server.close();
    }
  });

  it('refuses a port that is none', async () => {
    const { ended, text } = run('http');
    assert.equal(await ended, 1);
    assert.match(text(), /^PORT=http is not a port: .*\n$/);
    const mqtt = run('1880', '65536');
    assert.equal(await mqtt.ended, 1);
    assert.match(mqtt.text(), /^MQTT_PORT=65536 is not a port: .*\n$/);
  });

  /** It keeps its flows in its own folder, with one dashboard, and writes nowhere else. */
  const checkFiles = () => {
    const text = readFileSync(path.join(place, 'clone/.demo/flows.json'), 'utf8');
    const flows = JSON.parse(text) as { type: string }[];
    assert.equal(flows.filter(({ type }) => type === 'ui-base').length, 1);
    assert.ok(flows.every(({ type }) => type !== 'global-config'));
    assert.deepEqual(readdirSync(path.join(place, 'home')), []);
    assert.deepEqual(readdirSync(path.join(place, 'clone')).sort(), [
      ...['.config', '.demo', 'dist', 'examples', 'node_modules', 'package.json', 'resources'],
    ]);
  };

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`runs on the port that was asked for, writes only into its own folder, and ends with ${signal}`, async () => {
      const [port = 0] = await freePorts(1);
      const { child, written, ended, text } = run(String(port));
      try {
        await written.find('address', (line) => line.includes('MQTT'));
        assert.doesNotMatch(text(), /warn|error/i);
        const [editor = '', dashboard = ''] = text().match(/http:\S+/g) ?? [];
        assert.equal(editor, `http://127.0.0.1:${port}/`);
        for (const address of [editor, dashboard]) assert.equal((await fetch(address)).status, 200, address);
        const broker = /mqtt:\S+/.exec(text())?.[0] ?? '';
        const client = await connectAsync(broker, { reconnectPeriod: 0 });
        await client.endAsync();

        // The lamp of the first example: off at the start, switched by its own account.
        const strip = `${editor}strip-example-01/api/public/v1/strips/A1B2C3D4E5F6`;
        const isOn = async () => {
          const response = await fetch(strip, { headers: { 'x-api-key': 'any' } });
          const { outlets } = (await response.json()) as { outlets: { port: number; on: boolean }[] };
          return outlets.some((outlet) => outlet.port === 4 && outlet.on);
        };
        assert.equal((await fetch(strip)).status, 401);
        assert.equal(await isOn(), false);
        const pressed = await fetch(`${editor}inject/strip01_on`, { method: 'POST' });
        assert.equal(pressed.status, 200);
        await until('the lamp switched on', isOn);
      } finally {
        child.kill(signal);
      }
      assert.equal(await ended, HAS_SIGNALS ? 0 : null);
      checkFiles();
    });
  }
});
