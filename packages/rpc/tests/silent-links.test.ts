import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { waitFor } from "@workflow/testkit";
import { createRpcClient, rpc } from "../src/index.ts";
import { alice, echo, EchoService, minter, rejection, startEcho } from "./support.ts";

/* Links that say nothing: the limits for them are real ones, 10 s for a connection and 15 s for an answer. */
jest.setTimeout(240_000);

/** Far beyond every limit of a link: a call that ends by it was not helped by them. */
const CALL_MS = 100_000;
const IN_TIME = "The service is not available at the moment.";

let scope: Scope = createScope();
afterEach(async () => {
  await scope.close();
  scope = createScope();
});

async function listenAt(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.defer(() => void server.close());
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** A server that takes connections and bytes, and never says anything. */
function startSilent(): Promise<string> {
  return listenAt(
    createServer((socket) => {
      scope.defer(() => void socket.destroy());
      socket.on("error", () => {}).resume();
    }),
  );
}

/** A link to a server that can be cut without a word. */
async function startLink(target: string) {
  const [host, port] = target.split(":");
  let isCut = false;
  const join = (from: Socket, to: Socket): void => {
    scope.defer(() => void from.destroy());
    from.on("error", () => {});
    from.on("data", (chunk: Buffer) => void (isCut || to.write(chunk)));
    from.once("close", () => void (isCut || to.destroy()));
  };
  const server = createServer((socket) => {
    const upstream = connect({ host: host ?? "", port: Number(port) });
    join(socket, upstream);
    join(upstream, socket);
  });
  return { address: await listenAt(server), cut: () => void (isCut = true) };
}

/**
 * A port whose kernel answers no further connection, as behind a link that loses everything: its process
 * is stopped and its queue is full.
 */
async function startUnreachable(): Promise<string> {
  const program = `
    const server = require("node:net").createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => console.log(server.address().port));
  `;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  scope.defer(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  const [line] = await once(child.stdout, "data");
  const port = Number(String(line));
  child.kill("SIGSTOP");
  for (let made = 0; made < 4; made += 1) {
    const filler = connect({ host: "127.0.0.1", port });
    filler.on("error", () => {});
    scope.defer(() => void filler.destroy());
  }
  await waitFor(async () => (await queuedAt(port)) > 1, { what: "the queue to be full" });
  return `127.0.0.1:${port}`;
}

/** The connections that wait to be accepted at a listening port, as Linux tells. */
async function queuedAt(port: number): Promise<number> {
  const place = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const LISTENING = "0A";
  for (const line of (await readFile("/proc/net/tcp", "utf8")).split("\n")) {
    const [, local, , state, queues] = line.trim().split(/\s+/);
    if (local === place && state === LISTENING) return parseInt(queues?.split(":")[1] ?? "", 16);
  }
  return 0;
}

function clientOf(address: string) {
  const client = createRpcClient(EchoService, { address, minter, tls: "plain-text-allowed" });
  scope.defer(() => client.close());
  return client;
}

const call = { identity: alice, timeoutMs: CALL_MS };

describe("a call over a link that says nothing", () => {
  it("is given up long before its own limit where no connection can be made", async () => {
    const client = clientOf(await startUnreachable());
    const error = await rejection(client.say({ text: "" }, call));
    expect(error).toMatchObject({ reason: "UNAVAILABLE", message: IN_TIME });
  });

  it("is given up long before its own limit where the link falls silent under it", async () => {
    const started = Promise.withResolvers<void>();
    const never = rpc({
      scopes: "words:read",
      handler: async () => {
        started.resolve();
        return new Promise<never>(() => {});
      },
    });
    await using server = await startEcho({ ...echo, say: never });
    const link = await startLink(server.address);
    const answer = rejection(clientOf(link.address).say({ text: "" }, call));
    await started.promise;
    link.cut();
    expect(await answer).toMatchObject({ reason: "UNAVAILABLE", message: IN_TIME });
  });

  it("ends by its own limit where the server takes connections and never answers", async () => {
    const client = clientOf(await startSilent());
    const error = await rejection(client.say({ text: "" }, { identity: alice, timeoutMs: 500 }));
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    expect(await client.isServing(500)).toBe(false);
  });

  it("goes to another replica where there is one", async () => {
    await using server = await startEcho();
    const client = clientOf(
      [await startSilent(), await startUnreachable(), server.address].join(","),
    );
    const texts = Array.from({ length: 20 }, (_, n) => String(n));
    for (const text of texts) expect(await client.say({ text }, call)).toEqual({ text });
  });
});
