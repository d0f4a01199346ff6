import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import helper from 'node-red-node-test-helper';
import { TestProxy } from '../support/proxy';
import { until } from '../support/until';
import { flowNode, Lab, MAC, outlet2 } from './lab';

/** Node-RED's own config nodes, as far as the account uses them. */
const configNodes = (RED: NodeAPI): void => {
  const tls = function (this: Node & { addTLSOptions?: unknown }, def: NodeDef & { ca?: string }): void {
    RED.nodes.createNode(this, def);
    this.addTLSOptions = (options: object) =>
      Object.assign(options, { ca: def.ca, rejectUnauthorized: true });
  };
  const proxy = function (this: Node, def: NodeDef & { url?: string; noproxy?: unknown }): void {
    RED.nodes.createNode(this, def);
    Object.assign(this, { url: def.url, noproxy: def.noproxy });
  };
  RED.nodes.registerType('tls-config', tls);
  RED.nodes.registerType('http proxy', proxy);
};

/** Node-RED's own node with environment variables for all flows, which the runtime reads. */
const globalConfig = (RED: NodeAPI): void => {
  RED.nodes.registerType('global-config', function (this: Node, def: NodeDef) {
    RED.nodes.createNode(this, def);
  });
};

describe('the strip-account node', () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.start();
  });
  afterEach(() => lab.stop());

  const faulty: [string, object, object, RegExp][] = [
    ['no base URL', { baseUrl: '' }, { apiKey: 'k' }, /as the account's base URL: it has none/],
    ['a base URL that is none', { baseUrl: 'nonsense' }, { apiKey: 'k' }, /is not a web address/],
    [
      'a base URL of another kind',
      { baseUrl: { a: 1 } },
      { apiKey: 'k' },
      /^Set the property baseUrl \(strip-account account\) to a text: {"a": 1} is not a text\.$/,
    ],
    [
      'a variable that is not set for its base URL',
      { baseUrl: '${TEST_NO_URL}' },
      { apiKey: 'k' },
      /^Set the environment variable TEST_NO_URL, or enter the base URL/,
    ],
    ['no key', {}, {}, /^Enter the API key .*: the account has none/],
    ['a key of another kind', {}, { apiKey: { a: 5 } }, /^Enter the API key .*: the account has none/],
    [
      'a variable that is not set for its key',
      {},
      { apiKey: '${TEST_NO_KEY}' },
      /^Set the environment variable TEST_NO_KEY, or enter the API key/,
    ],
    [
      'a variable that is not set for its key, as older flows write it',
      {},
      { apiKey: '$(TEST_NO_KEY)' },
      /^Set the environment variable TEST_NO_KEY, or enter the API key/,
    ],
    [
      'a variable that is not set for its mapping',
      { mapping: '${TEST_NO_MAPPING}' },
      { apiKey: 'k' },
      /^Set the environment variable TEST_NO_MAPPING, or enter the value itself/,
    ],
    ...['interval', 'timeout', 'retryFor', 'concurrency', 'tls', 'proxy'].map(
      (name): (typeof faulty)[number] => [
        `a variable that is not set for its ${name}`,
        { [name]: '${TEST_NOT_SET}' },
        { apiKey: 'k' },
        /^Set the environment variable TEST_NOT_SET, or enter the value itself/,
      ],
    ),
    [
      'an interval with a unit',
      { interval: '30s' },
      { apiKey: 'k' },
      /^Set the property interval \(strip-account account\) to one of the accepted values \(5–86400\): "30s" is none of them\.$/,
    ],
    [
      'a timeout that is none',
      { timeout: 'abc', name: 'Home' },
      { apiKey: 'k' },
      /property timeout \(strip-account Home\) .*\(100–600000\): "abc"/,
    ],
    [
      'a time for retries that is no number',
      { retryFor: [30] },
      { apiKey: 'k' },
      /property retryFor .*: \[30\]/,
    ],
    ...['tls', 'proxy', 'mapping'].map((name): (typeof faulty)[number] => [
      `an object for its ${name}`,
      { [name]: { id: 'x' } },
      { apiKey: 'k' },
      new RegExp(
        `^Set the property ${name} \\(strip-account account\\) to a text: {"id": "x"} is not a text\\.$`,
      ),
    ]),
    ['a true number of requests', { concurrency: true }, { apiKey: 'k' }, /property concurrency .*: true is/],
    ...[{ units: { load: 'W', voltage: '${TEST_NO_UNIT}' } }, { units: '${TEST_NO_UNIT}' }].map(
      (units): (typeof faulty)[number] => [
        `a variable that is not set in ${JSON.stringify(units)}`,
        units,
        { apiKey: 'k' },
        /^Set the environment variable TEST_NO_UNIT, or enter the value itself/,
      ],
    ),
    ['a key with a line break', {}, { apiKey: 'sec\nret' }, /characters that an HTTP header cannot hold/],
    [
      'a TLS configuration that is not there',
      { tls: 'gone' },
      { apiKey: 'k' },
      /^Choose other TLS settings for the account/,
    ],
    [
      'a proxy that is not there',
      { proxy: 'gone' },
      { apiKey: 'k' },
      /^Choose other proxy settings for the account/,
    ],
    ...[{ mac: MAC }, { mac: '', port: 1 }].map((outlet): (typeof faulty)[number] => [
      `the protected outlet ${JSON.stringify(outlet)}`,
      { protectedOutlets: [outlet] },
      { apiKey: 'k' },
      /^Correct the account's protected outlets/,
    ]),
  ];
  for (const [what, config, credentials, sentence] of faulty) {
    it(`with ${what} lets flows start, and says so to every message`, async () => {
      await lab.deploy(
        [lab.account(config), flowNode('switch', 'strip switch', outlet2), flowNode('list', 'strip list')],
        { account: credentials },
      );
      for (const id of ['switch', 'list', 'switch']) {
        const failed = await lab.caught(id, { payload: true });
        assert.equal(failed.error?.code, 'NOT_CONFIGURED');
        assert.match(String(failed.error.message), sentence);
        assert(!JSON.stringify(failed).includes('sec'));
      }
      assert.deepEqual(lab.requests(), []);
      assert.deepEqual(lab.statuses('switch'), ['red ring notConfigured']);
    });
  }

  for (const account of ['', 'nobody', 'out', 7, { id: 'account' }, null]) {
    it(`is missed where a node's account is ${JSON.stringify(account)}`, async () => {
      await lab.deploy([flowNode('switch', 'strip switch', { ...outlet2, account })]);
      const failed = await lab.caught('switch', { payload: true });
      assert.equal(failed.error?.code, 'NOT_CONFIGURED');
      assert.match(String(failed.error.message), /^Choose an account in the node/);
      assert.equal((failed.strip as { on: unknown }).on, null);
    });
  }

  it('is missed where a variable that is not set names it', async () => {
    const account = '${TEST_NO_ACCOUNT}';
    await lab.deploy([
      flowNode('switch', 'strip switch', { ...outlet2, account }),
      flowNode('watch', 'strip watch', { account }),
    ]);
    const failed = await lab.caught('switch', { payload: true });
    assert.match(String(failed.error?.message), /^Set the environment variable TEST_NO_ACCOUNT, /);
    assert.match(String(lab.said('watch', 'warn')[0]), /Set the environment variable TEST_NO_ACCOUNT, /);
  });

  it('is missed where it is disabled', async () => {
    await lab.deploy([lab.account({ d: true }), flowNode('switch', 'strip switch', outlet2)]);
    assert.equal((await lab.caught('switch', { payload: true })).error?.code, 'NOT_CONFIGURED');
  });

  it('takes base URL and key from the environment', async () => {
    Object.assign(process.env, { TEST_URL: lab.service.baseUrl, TEST_KEY: lab.service.apiKey });
    await lab.deploy([lab.account({ baseUrl: '${TEST_URL}' }), flowNode('switch', 'strip switch', outlet2)], {
      account: { apiKey: '${TEST_KEY}' },
    });
    Reflect.deleteProperty(process.env, 'TEST_URL');
    Reflect.deleteProperty(process.env, 'TEST_KEY');
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
  });

  it('takes a key of digits from a variable that is a number', async () => {
    await lab.stop();
    lab = await Lab.start({ apiKey: '12345678' });
    const env = [{ name: 'TEST_KEY', value: '12345678', type: 'num' }];
    await lab.deploy(
      [lab.account(), flowNode('switch', 'strip switch', outlet2), { id: 'env', type: 'global-config', env }],
      { account: { apiKey: '${TEST_KEY}' } },
      [globalConfig],
    );
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
  });

  it('takes a base URL that already ends in the path of the API', async () => {
    await lab.deploy([
      lab.account({ baseUrl: `${lab.service.baseUrl}/api/public/v1/` }),
      flowNode('switch', 'strip switch', outlet2),
    ]);
    assert.equal((await lab.out('switch', { payload: true })).payload, true);
  });

  it('finds a strip whose MAC a flow spells in another way than a strict service, before any list was read', async () => {
    await lab.stop();
    const unknown = { kind: 'answer', status: 404, json: { error: 'no such strip' } } as const;
    const isOther = (path: string): boolean => path.includes('/strips/') && !path.includes(MAC);
    lab = await Lab.start({ faultOf: (path) => (isOther(path) ? unknown : null) });
    const mac = MAC.toLowerCase().replace(/..(?=.)/g, '$&:');
    await lab.startSwitch({ ...outlet2, mac });
    const answer = await lab.out('switch', { payload: true });
    assert.equal((answer.strip as { mac: string }).mac, MAC);
    await lab.out('switch', { payload: false });
    assert.deepEqual(
      lab.requests().map((line) => line.split(' ')[1]),
      [
        `/strips/${encodeURIComponent(mac)}/switch`,
        '/strips',
        `/strips/${MAC}/switch`,
        `/strips/${MAC}/switch`,
      ],
    );
  });

  for (const retryFor of ['30', '0']) {
    it(`does not say that there is no such strip while the list that would give its spelling fails (retry for ${retryFor} s)`, async () => {
      await lab.stop();
      const unknown = { kind: 'answer', status: 404, json: { error: 'no such strip' } } as const;
      const failing = { kind: 'answer', status: 503, json: {} } as const;
      let lists = 0;
      lab = await Lab.start({
        faultOf: (path) => {
          if (path.endsWith('/strips')) return lists++ === 0 ? failing : null;
          return path.includes(MAC) ? null : unknown;
        },
      });
      await lab.deploy([
        lab.account({ retryFor }),
        flowNode('switch', 'strip switch', { ...outlet2, mac: MAC.toLowerCase() }),
      ]);
      if (retryFor === '0') {
        const failed = await lab.caught('switch', { payload: true });
        assert.equal(failed.error?.code, 'SERVICE');
        assert.match(String(failed.error.message), /^Try again later: /);
      }
      assert.equal((await lab.out('switch', { payload: true })).payload, true);
    });
  }

  it('starts a strip watch after a deploy that only adds the TLS node it lacked, which says once why it could not before', async () => {
    const nodes = [lab.account({ tls: 'tls' }), flowNode('watch', 'strip watch')];
    await lab.deploy(nodes, { account: { apiKey: lab.service.apiKey } }, [configNodes]);
    assert.deepEqual(lab.statuses('watch'), ['red ring notConfigured']);
    await lab.redeploy([...nodes, flowNode('list', 'strip list')], 'nodes');
    assert.equal(lab.said('watch', 'warn').length, 1);
    await lab.redeploy([...nodes, { id: 'tls', type: 'tls-config' }], 'nodes');
    await until('the first poll', () => lab.statuses('watch').at(-1) === 'green dot watching');
  });

  it('shows its key nowhere on the node object', async () => {
    await lab.deploy([flowNode('switch', 'strip switch', outlet2)]);
    await lab.out('switch', { payload: true });
    const seen = new Set<object>();
    const strings: string[] = [];
    const look = (value: unknown, depth: number): void => {
      if (typeof value === 'string') strings.push(value);
      if (typeof value !== 'object' || value === null || seen.has(value) || depth > 6) return;
      // The runtime's flow object knows all credentials; it is not ours.
      if (value instanceof EventEmitter || depth === 0 || Object.getPrototypeOf(value) === Object.prototype) {
        seen.add(value);
        for (const key of Object.getOwnPropertyNames(value)) {
          if (key !== '_flow') look(Reflect.get(value, key), depth + 1);
        }
      }
    };
    for (const id of ['account', 'switch']) look(lab.node(id), 0);
    assert(strings.includes('account'));
    assert(!strings.some((text) => text.includes(lab.service.apiKey)));
    assert.deepEqual(
      lab.service.requests.map(({ headers }) => headers['x-api-key']),
      [lab.service.apiKey],
    );
  });

  it('goes through the proxy that is chosen, but for what it excepts', async () => {
    const proxy = new TestProxy();
    const url = `http://127.0.0.1:${await proxy.start()}`;
    const nodes = [lab.account({ proxy: 'proxy' }), flowNode('list', 'strip list')];
    for (const noproxy of [[], ['127.0.0.1']]) {
      const credentials = {
        account: { apiKey: lab.service.apiKey },
        proxy: { username: 'me', password: 'open' },
      };
      await lab.deploy([...nodes, { id: 'proxy', type: 'http proxy', url, noproxy }], credentials, [
        configNodes,
      ]);
      await lab.out('list', {});
      await helper.unload();
    }
    assert.deepEqual(
      proxy.seen.map(({ target, authorization }) => [target, authorization]),
      [[`${lab.service.baseUrl}/api/public/v1/strips`, `Basic ${btoa('me:open')}`]],
    );
    assert.equal(lab.service.requests.length, 2);
    await proxy.stop();
  });

  it('names the variable that is not set for the address of the proxy', async () => {
    const proxy = { id: 'proxy', type: 'http proxy', url: '${TEST_NO_PROXY}' };
    const nodes = [lab.account({ proxy: 'proxy' }), flowNode('list', 'strip list'), proxy];
    await lab.deploy(nodes, undefined, [configNodes]);
    const failed = await lab.caught('list', {});
    assert.match(
      String(failed.error?.message),
      /^Set the environment variable TEST_NO_PROXY, or enter the value/,
    );
  });

  it('asks the TLS configuration that is chosen, also one that comes after it', async () => {
    let asked = 0;
    const counting = (RED: NodeAPI): void => {
      const tls = function (this: Node & { addTLSOptions?: unknown }, def: NodeDef): void {
        RED.nodes.createNode(this, def);
        this.addTLSOptions = () => asked++;
      };
      RED.nodes.registerType('tls-config', tls);
    };
    await lab.deploy(
      [lab.account({ tls: 'tls' }), flowNode('list', 'strip list'), { id: 'tls', type: 'tls-config' }],
      undefined,
      [counting],
    );
    await lab.out('list', {});
    await lab.out('list', {});
    assert.equal(asked, 1);
  });
});
