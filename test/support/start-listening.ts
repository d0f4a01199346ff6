import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Lets a server listen on 127.0.0.1, on any free port if none is given. Returns the port. */
export async function startListening(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
