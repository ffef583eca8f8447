import { createServer } from "node:http";
import type { RequestListener, Server as HttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { Server, Socket } from "node:net";

import { HOOKS_TEST_CERTIFICATE, HOOKS_TEST_KEY } from "./certificate.ts";

/** A real server on 127.0.0.1 that closes, with every connection, at the end of its scope. */
export interface TestServer extends AsyncDisposable {
  port: number;
  /** http://127.0.0.1:port or https://hooks.test:port, without a slash at the end. */
  origin: string;
  /** The number of connections that were ever accepted. */
  connections(): number;
  /** Resolves when all connections accepted so far are closed. */
  closed(): Promise<unknown>;
}

/** An HTTP server. */
export async function startServer(listener: RequestListener): Promise<TestServer> {
  return listen(createServer(listener), "http://127.0.0.1");
}

/** An HTTPS server with the self-signed certificate of `hooks.test`. */
export async function startTlsServer(listener: RequestListener): Promise<TestServer> {
  const identity = { cert: HOOKS_TEST_CERTIFICATE, key: HOOKS_TEST_KEY };
  return listen(createTlsServer(identity, listener), "https://hooks.test");
}

/** A server that answers raw bytes, for errors that node:http never makes. */
export async function startRawServer(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listen(
    createTcpServer((socket) => {
      socket.on("error", () => socket.destroy());
      onConnection(socket);
    }),
    "http://127.0.0.1",
  );
}

/** The handler of a raw server that answers the first bytes and closes the connection. */
export function answer(bytes: string | Buffer): (socket: Socket) => void {
  return (socket) => socket.once("data", () => socket.end(bytes));
}

/** A port that was free a moment ago. */
export async function findClosedPort(): Promise<number> {
  const server = await startServer(() => undefined);
  await server[Symbol.asyncDispose]();
  return server.port;
}

async function listen(server: Server | HttpServer, prefix: string): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const closings: Promise<unknown>[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    closings.push(
      new Promise((resolve) => {
        socket.once("close", resolve);
      }),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not a TCP server");
  const { port } = address;
  return {
    port,
    origin: `${prefix}:${port}`,
    connections: () => sockets.size,
    closed: () => Promise.all(closings),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
