import { arch, platform, release } from 'node:os';
import type { NodeAPI } from 'node-red';
import { systemClock } from '../src/api/types';
import type { SwitchedAnswer } from '../src/flow/admin-answers';
import type * as Diagnostics from '../src/flow/diagnostics';
import { isLease, Leases, overviewOf, readOutletRequest } from '../src/flow/sidebar';
import { ownProperty } from '../src/values';
import { accountOf, findAccount, type AccountNode } from './shared/flow-node';
import { adminRoute, idsOf, PACKAGE_VERSION } from './shared/runtime';

/** The admin routes of the sidebar. Accounts come and go with deploys but routes stay, so accounts are looked up at each request. */
export = (RED: NodeAPI): void => {
  // The editor registers it, too. The palette manager counts only plugins that the runtime knows, and only their `onremove` is called on removal.
  RED.plugins.registerPlugin('smart-strip-sidebar', { type: 'sidebar' });
  const leases = new Leases(systemClock);
  const mayRead = RED.auth.needsPermission('strip-account.read');
  const mayWrite = RED.auth.needsPermission('strip-account.write');

  adminRoute(RED, 'get', '/strip-sidebar/accounts', mayRead, ({ query: { lease } }) => {
    if (!isLease(lease)) return 400;
    const deployed = deployedAccounts(RED);
    const accounts = deployed.map(({ account }) => account);
    leases.renew(lease, accounts);
    const now = systemClock.wall();
    return deployed.map(({ node, config, account }) => overviewOf(node.id, config, account, now));
  });

  adminRoute(RED, 'post', '/strip-sidebar/release', mayRead, ({ body }) => {
    const lease = ownProperty(body, 'lease');
    if (!isLease(lease)) return 400;
    leases.release(lease);
    return 204;
  });

  adminRoute(RED, 'post', '/strip-sidebar/switch', mayWrite, async ({ body }) => {
    const asked = readOutletRequest(body);
    if (asked === null) return 400;
    const { account, mac, port, on: action } = asked;
    const { on } = await accountOf(RED, account).account.get().run({ mac, port, action, delay: 0 });
    return { ok: true, on } satisfies SwitchedAnswer;
  });

  adminRoute(RED, 'get', '/strip-sidebar/diagnostics/:id', mayRead, ({ params }) => {
    const deployed = findAccount(RED, String(params.id));
    return deployed === undefined ? 404 : reportAbout(RED, deployed);
  });
};

/** All accounts that are deployed and not disabled, in the order of the flow file. */
const deployedAccounts = (RED: NodeAPI): AccountNode[] =>
  idsOf(RED, 'strip-account')
    .map((id) => findAccount(RED, id))
    .filter((deployed) => deployed !== undefined);

/** Loaded with the first report: most users never ask for one. */
const loadDiagnostics = () => require('../src/flow/diagnostics') as typeof Diagnostics;

async function reportAbout(RED: NodeAPI, { config, account, storedKey }: AccountNode): Promise<object> {
  const versions = {
    package: PACKAGE_VERSION,
    nodeRed: await RED.version(),
    node: process.version,
    platform: platform(),
    release: release(),
    arch: arch(),
  };
  return loadDiagnostics().reportOf({
    versions,
    config,
    hasKey: storedKey() !== '',
    status: account.status(),
    account: account.diagnostics(),
    now: systemClock.wall(),
  });
}
