import type { NodeAPI } from 'node-red';
import { systemClock } from '../src/api/clock';
import { editorError, isLease, Leases, overviewOf, readOutletRequest } from '../src/flow/overview';
import type { OutletRequest } from '../src/flow/overview';
import { accountOf, deployedAccounts } from './shared/accounts';

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

  RED.httpAdmin.post('/strip-sidebar/release', mayRead, (request, response) => {
    const body: unknown = request.body;
    const lease: unknown = typeof body === 'object' && body !== null && 'lease' in body ? body.lease : null;
    if (isLease(lease)) leases.release(lease);
    response.sendStatus(isLease(lease) ? 204 : 400);
  });

  RED.httpAdmin.post('/strip-sidebar/switch', mayWrite, (request, response, next) => {
    const asked = request.is('application/json') ? readOutletRequest(request.body) : null;
    if (asked === null) {
      response.sendStatus(400);
      return;
    }
    switchOutlet(RED, asked).then((answer) => response.json(answer), next);
  });
};

async function switchOutlet(RED: NodeAPI, { account, mac, port, on }: OutletRequest): Promise<object> {
  try {
    const outcome = await accountOf(RED, account).get().run({ mac, port, action: on, delay: 0 });
    return { ok: true, on: outcome.on };
  } catch (error) {
    return { ok: false, ...editorError(error) };
  }
}
