import { inspect } from 'node:util';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import { systemClock } from '../src/api/clock';
import { applyByHand, readByHand } from '../src/simulator/by-hand';
import { readConfig } from '../src/simulator/config';
import { Mounts, normalisePath } from '../src/simulator/mounts';
import { Simulator } from '../src/simulator/simulator';

type Definition = NodeDef & Record<string, unknown>;

interface Credentials {
  apiKey?: string;
}

/** Keys below `strip-simulator.badge` and, but for the first, `strip-simulator.notice`. */
type Condition = 'simulated' | 'badPath' | 'notServed' | 'pathTaken' | 'noKey' | 'locked';

const SEVERE: readonly Condition[] = ['badPath', 'notServed', 'pathTaken', 'noKey'];

export = (RED: NodeAPI): void => {
  const mounts = new Mounts();
  // Before the routes of http-in nodes, so that none of them with a wildcard takes the simulators' requests.
  RED.httpNode.use(mounts.middleware);

  function StripSimulator(this: Node<Credentials>, def: Definition): void {
    RED.nodes.createNode(this, def);
    const { strips, shape, latency, path: wanted } = readConfig(def);
    const typed = typedKey(this);
    const variable = /^\$\{([^}]*)\}$/.exec(typed)?.[1];
    const apiKey = variable === undefined ? typed : '';
    const simulator = new Simulator({ strips, apiKey, shape, latency, clock: systemClock });
    const path = normalisePath(wanted);

    const show = (condition: Condition): void => {
      const fill = condition === 'simulated' ? 'green' : SEVERE.includes(condition) ? 'red' : 'yellow';
      this.status({
        fill,
        shape: condition === 'simulated' ? 'dot' : 'ring',
        text: `strip-simulator.badge.${condition}`,
      });
      if (condition !== 'simulated') {
        const notice = condition === 'noKey' && variable !== undefined ? 'noVariable' : condition;
        const values = { path: path === '' ? '/' : (path ?? wanted), variable: variable ?? '' };
        this.warn(RED._(`strip-simulator.notice.${notice}`, values));
      }
    };
    // What `settings.js` says is not to be changed from here, only to be told.
    const settings: { httpNodeRoot?: unknown; httpNodeAuth?: unknown } = RED.settings;
    const condition = (serving: boolean): Condition => {
      if (settings.httpNodeRoot === false) return 'notServed';
      if (!serving) return 'pathTaken';
      if (apiKey === '') return 'noKey';
      return settings.httpNodeAuth ? 'locked' : 'simulated';
    };
    let release = (): void => undefined;
    if (path === null) show('badPath');
    else release = mounts.claim(path, simulator, (serving) => show(condition(serving)));

    simulator.onSwitch(({ mac, port, on }) => {
      this.send({ topic: `${mac}/${port}`, payload: { mac, port, on } });
    });

    this.on('input', (msg, _send, done) => {
      const change = readByHand(msg.payload);
      if (change === null) done(invalid(RED._('strip-simulator.error.input', { got: excerpt(msg.payload) })));
      else if (!applyByHand(simulator, change)) {
        done(invalid(RED._('strip-simulator.error.mac', { mac: excerpt(change.mac) })));
      } else done();
    });

    this.on('close', () => {
      release();
      simulator.close();
    });
  }

  RED.nodes.registerType<Node<Credentials>, Definition, object, Credentials>(
    'strip simulator',
    StripSimulator,
    {
      credentials: { apiKey: { type: 'password' } },
    },
  );
};

/** Node-RED leaves the credentials undefined where none were typed and the node's type has a space in it. */
const typedKey = ({ credentials }: { credentials?: { apiKey?: unknown } }): string =>
  typeof credentials?.apiKey === 'string' ? credentials.apiKey.trim() : '';

/** As a Catch node is to see it: the code as an own property, and `toString()` is the sentence alone. */
const invalid = (sentence: string): Error =>
  Object.assign(new Error(sentence), { name: '', code: 'INVALID_INPUT' });

const LONGEST_EXCERPT = 80;

function excerpt(value: unknown): string {
  const text = inspect(value, { depth: 2, breakLength: Infinity, maxStringLength: LONGEST_EXCERPT });
  return text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…` : text;
}
