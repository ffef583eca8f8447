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
  /** The same for the next statements of this name, which are transactions of their own. */
  loseAnswersToStatement(name: string, count: number): void;
  /**
   * Cuts the connection on which the next statement of this name comes. The statement reaches Postgres
   * when the function that this gives is called; it resolves when Postgres has answered.
   */
  holdStatement(name: string): () => Promise<void>;
  answersLost(): number;
  /** Lets nothing through any more, in neither direction, until it is thawed. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** A simple query `COMMIT` as the protocol frames it. */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");

/** Starts a proxy in front of the Postgres of this address. */
export async function startPostgresProxy(connectionUri: string): Promise<PostgresProxy> {
  const uri = new URL(connectionUri);
  let targetPort = Number(uri.port);
  let toLose = 0;
  let losing = COMMIT;
  let lost = 0;
  let isFrozen = false;
  let holding: Buffer | null = null;
  let held: { upstream: Socket; bytes: Buffer } | null = null;
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
      if (held?.upstream === upstream) return;
      if (holding !== null && bytes.includes(holding)) {
        held = { upstream, bytes };
        holding = null;
        client.destroy();
        return;
      }
      if (toLose > 0 && bytes.includes(losing)) {
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
    if (isFrozen) for (const socket of [client, upstream]) socket.pause();
    client.once("close", () => {
      if (held?.upstream !== upstream) upstream.destroy();
    });
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
      losing = COMMIT;
      toLose = count;
    },
    loseAnswersToStatement(name, count) {
      losing = Buffer.from(name, "latin1");
      toLose = count;
    },
    holdStatement(name) {
      holding = Buffer.from(name, "latin1");
      return async () => {
        if (held === null) throw new Error(`No statement ${name} came.`);
        const { upstream, bytes } = held;
        const answered = once(upstream, "data");
        upstream.write(bytes);
        await answered;
        upstream.destroy();
      };
    },
    answersLost: () => lost,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
