import type { Browser } from 'playwright-core';
import { startNodeRed, type NodeRedOptions, type RunningNodeRed } from '../support/node-red';
import { startService, type ServiceOptions, type TestService } from '../support/service';
import { findChromium, launch } from './editor';

/** A Node-RED, a service and a browser, for the tests of one file. */
interface Stage {
  red: RunningNodeRed;
  service: TestService;
  browser: Browser;
}

/** Starts them before the tests of a suite and ends them afterwards; without a browser the suite is skipped. */
export function setStage(options: { nodeRed?: NodeRedOptions; service?: ServiceOptions } = {}): Stage {
  const stage: Partial<Stage> = {};

  before(async function () {
    const chromium = findChromium();
    if (chromium === undefined) this.skip();
    stage.service = await startService(options.service);
    stage.red = await startNodeRed(options.nodeRed);
    stage.browser = await launch(chromium);
  });

  after(async () => {
    await stage.browser?.close();
    await stage.red?.stop();
    await stage.service?.close();
  });

  const there = <Name extends keyof Stage>(name: Name): Stage[Name] => {
    const value = stage[name];
    if (value === undefined) throw new Error(`${name} is used before the tests began`);
    return value;
  };
  return {
    get red() {
      return there('red');
    },
    get service() {
      return there('service');
    },
    get browser() {
      return there('browser');
    },
  };
}
