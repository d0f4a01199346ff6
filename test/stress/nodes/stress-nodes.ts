// Loaded into the Node-RED under stress: a source that keeps sending, a sink that counts what becomes of each message,
// and a bare node to compare with.
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import type { Counted } from '../support/stressed';

interface NumberedMessage extends NodeMessage {
  payload?: unknown;
  number?: number;
  error?: { code?: string };
}

interface SourceDef extends NodeDef {
  /** Messages; their payloads go round. */
  count: number;
  payloads: unknown[];
  /** Milliseconds between two turns, and messages per turn. */
  every: number;
  burst: number;
}

export = (RED: NodeAPI): void => {
  let counted: Counted = { sent: 0, out: {}, caught: {}, codes: {} };

  RED.nodes.registerType('stress-source', function (this: Node, config: SourceDef) {
    RED.nodes.createNode(this, config);
    let left = config.count;
    const timer = setInterval(() => {
      for (let index = 0; index < config.burst && left > 0; index++, left--) {
        const number = counted.sent++;
        const payload = structuredClone(config.payloads[number % config.payloads.length]);
        const message: NumberedMessage = { payload, number };
        this.send(message);
      }
      if (left === 0) clearInterval(timer);
    }, config.every);
    this.on('close', () => clearInterval(timer));
  });

  RED.nodes.registerType('stress-sink', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', (message: NumberedMessage, _send, done) => {
      const { number = -1, error } = message;
      const counts = error === undefined ? counted.out : counted.caught;
      counts[number] = (counts[number] ?? 0) + 1;
      const code = error === undefined ? 'ok' : String(error.code);
      counted.codes[code] = (counted.codes[code] ?? 0) + 1;
      done();
    });
  });

  RED.nodes.registerType('stress-bare', function (this: Node, config: NodeDef) {
    RED.nodes.createNode(this, config);
    this.on('input', (message, send, done) => {
      send(message);
      done();
    });
  });

  RED.httpAdmin.get('/stress', (_request, response) => response.json(counted));
  RED.httpAdmin.post('/stress', (_request, response) => {
    counted = { sent: 0, out: {}, caught: {}, codes: {} };
    response.json({});
  });
};
