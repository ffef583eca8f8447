import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { NetConnectOpts, Server, Socket } from "node:net";
import { freePort } from "@workflow/testkit";

/**
 * An address on this machine that leads to a server while the relay is open: a server that comes late, or goes.
 */
export interface Relay {
  port: number;
  open(): Promise<void>;
  /** Closes the relay, and cuts its connections. */
  close(): Promise<void>;
}

/** Makes a closed relay to a server on this machine. */
export async function createRelay(place: NetConnectOpts): Promise<Relay> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  function join(socket: Socket): void {
    const target = connect(place);
    for (const [end, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      sockets.add(end);
      end.once("close", () => {
        sockets.delete(end);
        other.destroy();
      });
      // The other end learns of an error by the close.
      end.on("error", () => {});
    }
    socket.pipe(target).pipe(socket);
  }

  return {
    port,
    async open() {
      server = createServer(join).listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    async close() {
      if (server === undefined) return;
      const closed = once(server, "close");
      server.close();
      server = undefined;
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
