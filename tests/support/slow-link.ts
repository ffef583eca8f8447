import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";

/** A slow connection to a server. */
export interface SlowLink {
  port: number;
  /**
   * Sets the delay in milliseconds of all bytes from now on, which stay behind those on their way.
   */
  setDelay(delayMs: number): void;
  close(): Promise<void>;
}

/**
 * Listens on a port of its own and hands all bytes on, both ways, in order and with a delay in milliseconds.
 */
export async function startSlowLink(toPort: number, delayMs: number): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  let currentMs = delayMs;
  const handOn = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    let lastAt = 0;
    from.on("data", (chunk) => {
      lastAt = Math.max(lastAt, performance.now() + currentMs);
      setTimeout(() => void to.write(chunk), Math.max(1, Math.ceil(lastAt - performance.now())));
    });
    from.on("close", () => to.destroy());
    // An error only means that the other end has gone, so this end goes as well.
    from.on("error", () => to.destroy());
  };
  const server = createServer((near) => {
    const far = connect(toPort, "127.0.0.1");
    handOn(near, far);
    handOn(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It listens on no port.");
  return {
    port: address.port,
    setDelay(nextMs) {
      currentMs = nextMs;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}
