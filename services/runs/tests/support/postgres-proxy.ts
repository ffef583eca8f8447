import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

/** Stands between a service and Postgres; can lose what Postgres answers. */
export interface PostgresProxy {
  connectionUri: string;
  /** Sends connections to another port from now on. */
  setTarget(port: number): void;
  /** Of the next commits so many reach Postgres, but their answers do not come back. */
  loseAnswersToCommits(count: number): void;
  answersLost(): number;
  close(): Promise<void>;
}

/** A simple query `COMMIT` as the protocol frames it. */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");

/** Starts a proxy in front of the Postgres of this address. */
export async function startPostgresProxy(connectionUri: string): Promise<PostgresProxy> {
  const uri = new URL(connectionUri);
  let targetPort = Number(uri.port);
  let toLose = 0;
  let lost = 0;
  const sockets = new Set<Socket>();

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  };

  const server = createServer((client) => {
    const upstream = connect(targetPort, "127.0.0.1");
    let deaf = false;
    keep(client);
    keep(upstream);
    client.on("data", (bytes) => {
      if (toLose > 0 && bytes.includes(COMMIT)) {
        toLose -= 1;
        lost += 1;
        deaf = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      // The commit is done: now the connection breaks.
      if (deaf) client.destroy();
      else client.write(bytes);
    });
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The proxy has no port.");
  uri.hostname = "127.0.0.1";
  uri.port = String(address.port);
  return {
    connectionUri: uri.href,
    setTarget(port) {
      targetPort = port;
    },
    loseAnswersToCommits(count) {
      toLose = count;
    },
    answersLost: () => lost,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
