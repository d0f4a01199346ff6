import { arch, platform, release } from 'node:os';
import type { NodeAPI } from 'node-red';
import type { AccountStatus } from '../src/account/types';
import { systemClock } from '../src/api/clock';
import { isStripError } from '../src/api/errors';
import { reportOf } from '../src/diagnostics';
import { editorError, isLease, Leases, overviewOf, readOutletRequest } from '../src/flow/overview';
import type { OutletRequest } from '../src/flow/overview';
import type { LazyAccount } from '../src/flow/shared-account';
import { accountOf, deployedAccounts, findAccount, type AccountLink } from './shared/accounts';
import { requireJson } from './shared/admin';
import { packageVersion } from './shared/package-version';

/** What the side bar asks of the runtime. Accounts come and go with deploys while routes stay, so they are looked up each time. */
export = (RED: NodeAPI): void => {
  const leases = new Leases(systemClock);
  const mayRead = RED.auth.needsPermission('strip-account.read');
  const mayWrite = RED.auth.needsPermission('strip-account.write');

  RED.httpAdmin.get('/strip-sidebar/accounts', mayRead, (request, response) => {
    const { lease } = request.query;
    if (!isLease(lease)) {
      response.sendStatus(400);
      return;
    }
    const links = deployedAccounts(RED);
    leases.renew(
      lease,
      links.map(({ account }) => account),
    );
    const now = systemClock.wall();
    response.set('Cache-Control', 'no-store');
    response.json(links.map(({ node, account }) => overviewOf(node.id, account, now)));
  });

  RED.httpAdmin.post('/strip-sidebar/release', mayRead, requireJson, (request, response) => {
    const body: unknown = request.body;
    const lease: unknown = typeof body === 'object' && body !== null && 'lease' in body ? body.lease : null;
    if (isLease(lease)) leases.release(lease);
    response.sendStatus(isLease(lease) ? 204 : 400);
  });

  RED.httpAdmin.post('/strip-sidebar/switch', mayWrite, requireJson, (request, response, next) => {
    const asked = readOutletRequest(request.body);
    if (asked === null) {
      response.sendStatus(400);
      return;
    }
    switchOutlet(RED, asked).then((answer) => response.json(answer), next);
  });

  RED.httpAdmin.get('/strip-sidebar/diagnostics/:id', mayRead, (request, response, next) => {
    const link = findAccount(RED, String(request.params.id));
    if (link === undefined) {
      response.sendStatus(404);
      return;
    }
    response.set('Cache-Control', 'no-store');
    reportAbout(RED, link).then((report) => response.json(report), next);
  });
};

async function reportAbout(RED: NodeAPI, link: AccountLink): Promise<unknown> {
  const versions = {
    package: packageVersion(),
    nodeRed: await RED.version(),
    node: process.version,
    platform: platform(),
    release: release(),
    arch: arch(),
  };
  const status = statusOf(link.account);
  return reportOf({ ...link.diagnostics(), versions, status, now: systemClock.wall() });
}

function statusOf(account: LazyAccount): AccountStatus {
  try {
    return account.get().status();
  } catch (error) {
    if (!isStripError(error)) throw error;
    const never = { readable: true, lastAnswerAt: null, cooldownUntil: null, polling: false };
    return { available: false, error, ...never };
  }
}

async function switchOutlet(RED: NodeAPI, { account, mac, port, on }: OutletRequest): Promise<object> {
  try {
    const outcome = await accountOf(RED, account).get().run({ mac, port, action: on, delay: 0 });
    return { ok: true, on: outcome.on };
  } catch (error) {
    return { ok: false, ...editorError(error) };
  }
}
