import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

/** A proxy between a service and Postgres that can lose the answers of Postgres. */
export interface PostgresProxy {
  connectionUri: string;
  /** Sends connections to another port from now on. */
  setTarget(port: number): void;
  /** Loses the answers to the next commits, which do reach Postgres. */
  loseAnswersToCommits(count: number): void;
  /** Loses the answers to the next statements of this name, each a transaction by itself. */
  loseAnswersToStatement(name: string, count: number): void;
  /**
   * Cuts the connection on which the next statement of this name comes. The returned function sends the statement
   * to Postgres, and resolves when Postgres has answered.
   */
  holdStatement(name: string): () => Promise<void>;
  answersLost(): number;
  /** Holds all bytes, in both directions, until `thaw`. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** A simple query `COMMIT` as the protocol frames it. */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");

/** Starts a proxy in front of the Postgres of this address. */
export async function startPostgresProxy(connectionUri: string): Promise<PostgresProxy> {
  const uri = new URL(connectionUri);
  const wire = new Wire(Number(uri.port));
  const server = createServer((client) => wire.connect(client));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The proxy has no port.");
  uri.hostname = "127.0.0.1";
  uri.port = String(address.port);
  return {
    connectionUri: uri.href,
    setTarget: (port) => void (wire.targetPort = port),
    loseAnswersToCommits: (count) => wire.lose(COMMIT, count),
    loseAnswersToStatement: (name, count) => wire.lose(Buffer.from(name, "latin1"), count),
    holdStatement: (name) => wire.hold(name),
    answersLost: () => wire.lost,
    freeze: () => wire.freeze(),
    thaw: () => wire.thaw(),
    async close() {
      const closed = once(server, "close");
      server.close();
      wire.destroy();
      await closed;
    },
  };
}

/** The connections through the proxy, and what happens to the bytes on them. */
class Wire {
  /** The port to which new connections go. */
  targetPort: number;
  /** How many answers were lost. */
  lost = 0;
  readonly #sockets = new Set<Socket>();
  #losing: Buffer = COMMIT;
  #toLose = 0;
  #isFrozen = false;
  #holding: Buffer | null = null;
  #held: { upstream: Socket; bytes: Buffer } | null = null;

  constructor(targetPort: number) {
    this.targetPort = targetPort;
  }

  /** Connects a client with Postgres. */
  connect(client: Socket): void {
    const upstream = connect(this.targetPort, "127.0.0.1");
    let deaf = false;
    this.#keep(client);
    this.#keep(upstream);
    client.on("data", (bytes) => {
      if (this.#held?.upstream === upstream) return;
      if (this.#holding !== null && bytes.includes(this.#holding)) {
        this.#held = { upstream, bytes };
        this.#holding = null;
        client.destroy();
        return;
      }
      deaf = this.#losesAnswerTo(bytes) || deaf;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      // Postgres has done the statement: now the connection breaks.
      if (deaf) client.destroy();
      else client.write(bytes);
    });
    if (this.#isFrozen) for (const socket of [client, upstream]) socket.pause();
    client.once("close", () => {
      if (this.#held?.upstream !== upstream) upstream.destroy();
    });
    upstream.once("close", () => client.destroy());
  }

  /** Loses the answers to the next statements that hold this text. */
  lose(text: Buffer, count: number): void {
    this.#losing = text;
    this.#toLose = count;
  }

  hold(name: string): () => Promise<void> {
    this.#holding = Buffer.from(name, "latin1");
    return async () => {
      if (this.#held === null) throw new Error(`No statement ${name} came.`);
      const { upstream, bytes } = this.#held;
      const answered = once(upstream, "data");
      upstream.write(bytes);
      await answered;
      upstream.destroy();
    };
  }

  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Ends all connections at once. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #losesAnswerTo(bytes: Buffer): boolean {
    if (this.#toLose === 0 || !bytes.includes(this.#losing)) return false;
    this.#toLose -= 1;
    this.lost += 1;
    return true;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
