import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock, type Timer } from '../../../src/api/clock';
import { handle } from '../../../src/simulator/handler';
import { readBody, send } from '../../../src/simulator/http';
import { Simulator } from '../../../src/simulator/simulator';
import { commit, type Fault } from '../../support/faults';

export const KEY = 'key-of-the-stress-service';

export interface FaultyService {
  readonly baseUrl: string;
  readonly simulator: Simulator;
  close(): Promise<void>;
}

/** A service with a fault of its own for each strip, however many requests are on their way at once. */
export async function startFaulty(faults: ReadonlyMap<string, Fault | null>): Promise<FaultyService> {
  const strips = [...faults.keys()].map((mac) => ({ mac, name: `Strip ${mac}` }));
  const simulator = new Simulator({ strips, apiKey: KEY, shape: 'plain', latency: 0, clock: systemClock });
  const timers = new Set<Timer>();
  const sockets = new Set<Socket>();
  const failures: unknown[] = [];
  const server = createServer((request, response) => {
    const run = async () => {
      const body = await readBody(request);
      if (typeof body === 'string') return;
      const { method = '', url: path = '', headers } = request;
      const carryOut = async () => await handle(simulator, { method, path, headers, body: body.text });
      const fault = faults.get(/\/strips\/([^/]+)/.exec(path)?.[1] ?? '') ?? null;
      if (fault === null) send(response, await carryOut());
      else await commit(fault, { request, response, clock: systemClock, timers, carryOut });
    };
    run().catch((error: unknown) => failures.push(error));
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    simulator,
    close: async () => {
      simulator.close();
      for (const timer of timers) systemClock.clearTimeout(timer);
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      if (failures.length > 0) throw new AggregateError(failures, 'the faulty service failed');
    },
  };
}
