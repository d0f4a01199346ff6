import type { Node, NodeAPI } from 'node-red';
import { asError, type Params } from '../src/api/errors';
import { systemClock } from '../src/api/types';
import { errorWithCode, sentenceOf } from '../src/flow/node-error';
import { errorStatus } from '../src/flow/node-status';
import { simulatorPath } from '../src/api/connection-settings';
import { requireReadable, requireSet, SETTINGS, textOf } from '../src/settings';
import { middleware, simulators } from '../src/simulator/registry';
import { readConfig, readManualChange, Simulator } from '../src/simulator/simulator';
import { environmentVariable, preview } from '../src/values';
import type { Credentials, Definition } from './shared/flow-node';
import { translator, watchDeploys, whenStopped } from './shared/runtime';

/** Keys below `strip-simulator.status` and, except the first, `strip-simulator.notice`. */
type Condition = 'simulated' | 'badPath' | 'pathTaken' | 'noVariable';

export = (RED: NodeAPI): void => {
  watchDeploys(RED);
  // Registered before the routes of http-in nodes, so that none of them with a wildcard takes the simulators' requests. A route cannot be removed, so
  // there is only one, which stays. As with http-in nodes, middleware from settings.js, such as a login, runs first.
  RED.httpNode.all(
    /^/,
    (request, _response, next) => next(simulators.find(request.url) === null ? 'route' : undefined),
    ...[RED.settings.httpNodeMiddleware ?? []].flat(),
    middleware(simulators),
  );

  function StripSimulator(this: Node<Credentials>, def: Definition): void {
    RED.nodes.createNode(this, def);
    const { strips, shape, latency, path: configured } = readConfig(def);
    // Node-RED leaves the credentials undefined if none were typed and the node's type has a space in it.
    const typed = textOf(this.credentials, 'apiKey');
    const variable = environmentVariable(typed);
    const apiKey = variable === null ? typed : null;
    const simulator = new Simulator({ strips, apiKey, shape, latency, drift: true, clock: systemClock });
    const path = simulatorPath(configured);
    /** For the sentences of the log. */
    const values = { path: path === '' ? '/' : (path ?? preview(configured)), variable: variable ?? '' };

    const show = (condition: Condition): void => {
      const simulated = condition === 'simulated';
      this.status({
        fill: simulated ? 'green' : 'red',
        shape: simulated ? 'dot' : 'ring',
        // A subflow that shows this status as its own finds the text only with the name of the catalogue.
        text: `@smart-strip/node-red-smart-strip/strip-simulator:strip-simulator.status.${condition}`,
      });
      if (!simulated) this.warn(RED._(`strip-simulator.notice.${condition}`, values));
    };
    let closed = false;
    let release = (): void => undefined;
    try {
      requireReadable(def, SETTINGS['strip simulator']);
      for (const text of [configured, ...strips.map(({ mac }) => mac)]) requireSet(text);
      if (path === null) show('badPath');
      else {
        release = simulators.claim(path, simulator, (answering) => {
          if (closed) return;
          show(!answering ? 'pathTaken' : apiKey === null ? 'noVariable' : 'simulated');
        });
        // Accounts in this Node-RED still reach it.
        const { httpNodeRoot, httpNodeAuth } = RED.settings;
        const limit = httpNodeRoot === false ? 'notServed' : httpNodeAuth ? 'locked' : null;
        if (limit !== null) this.log(RED._(`strip-simulator.notice.${limit}`, values));
      }
    } catch (error) {
      const failure = asError(error);
      this.status(errorStatus(failure.code));
      this.warn(sentenceOf(failure, translator(RED)));
    }

    simulator.on('switch', ({ mac, port, on }) => {
      this.send({ topic: `${mac}/${port}`, payload: { mac, port, on } });
    });

    this.on('input', (msg, _send, done) => {
      const refuse = (key: string, params: Params) =>
        done(errorWithCode('INVALID_INPUT', RED._(`strip-simulator.error.${key}`, params)));
      const change = readManualChange(msg.payload);
      if (change === null) refuse('input', { got: preview(msg.payload) });
      else if (!simulator.apply(change)) refuse('mac', { mac: preview(change.mac) });
      else done();
    });

    this.on('close', () => {
      closed = true;
      this.status({});
      simulator.close();
      // Not earlier: an account that is closing may still switch outlets.
      whenStopped(release);
    });
  }

  RED.nodes.registerType<Node<Credentials>, Definition, object, Credentials>(
    'strip simulator',
    StripSimulator,
    { credentials: { apiKey: { type: 'password' } } },
  );
};
