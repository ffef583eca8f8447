import { once } from "node:events";
import { createServer } from "node:net";
import type { Server } from "node:net";

/** Listeners on inner addresses, which no tenant's request may ever reach. */
export interface Canaries {
  /** The port on 127.0.0.1 and, where the machine has IPv6, on ::1. */
  port: number;
  /** The number of connections so far, whatever came over them. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts listeners on the loopback addresses that count connections before a byte is exchanged. */
export async function startCanaries(): Promise<Canaries> {
  let connections = 0;
  const listen = async (port: number, host: string): Promise<Server> => {
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    server.listen(port, host);
    await once(server, "listening");
    return server;
  };
  const first = await listen(0, "127.0.0.1");
  const address = first.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const second = await listen(address.port, "::1").catch(() => null);
  const servers = second === null ? [first] : [first, second];
  return {
    port: address.port,
    connections: () => connections,
    close: async () => {
      await Promise.all(servers.map((server) => once(server.close(), "close")));
    },
  };
}
