import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client, credentials, status } from "@grpc/grpc-js";
import { waitFor } from "@workflow/testkit";
import { createRpcClient, createRpcServer, rpc } from "../src/index.ts";
import {
  alice,
  audience,
  echo as echoMethods,
  EchoService,
  rejection,
  signer,
  startEcho,
  verifier,
} from "./support.ts";

describe("health", () => {
  it("follows what the service says, without a token", async () => {
    await using echo = await startEcho();
    const client = createRpcClient(EchoService, { address: echo.address });

    const answers = [await client.isServing(5_000)];
    echo.server.setServing(false);
    answers.push(await client.isServing(5_000));
    await echo.server.close();
    answers.push(await client.isServing(5_000));
    client.close();

    expect(answers).toEqual([true, false, false]);
  });
});

describe("closing", () => {
  it("lets running calls finish and refuses new ones", async () => {
    const gate = Promise.withResolvers<void>();
    let isHandling = false;
    await using echo = await startEcho({
      say: rpc({
        scopes: "words:read",
        handler: async (request) => {
          isHandling = true;
          await gate.promise;
          return request;
        },
      }),
    });
    const running = echo.client.say({ text: "late" }, { identity: alice });
    await waitFor(() => isHandling);

    const closed = echo.server.close(60_000);
    const refused = await rejection(echo.client.say({ text: "" }, { identity: alice }));
    gate.resolve();

    expect(refused).toMatchObject({ reason: "UNAVAILABLE" });
    expect(await running).toEqual({ text: "late" });
    await closed;
  });

  it("cuts off what does not finish in time", async () => {
    let isHandling = false;
    await using echo = await startEcho({
      say: rpc({
        scopes: "words:read",
        handler: () => {
          isHandling = true;
          return new Promise(() => {});
        },
      }),
    });
    const running = rejection(echo.client.say({ text: "" }, { identity: alice }));
    await waitFor(() => isHandling);

    await echo.server.close(50);

    expect(await running).toMatchObject({
      reason: "UNAVAILABLE",
      message: "The service is shutting down.",
    });
    expect(echo.outcomes).toMatchObject([{ code: "UNAVAILABLE" }]);
  });

  it("does not wait for those who watch its health", async () => {
    const echo = await startEcho();
    const watcher = new Client(echo.address, credentials.createInsecure());
    const same = (bytes: Buffer): Buffer => bytes;
    const path = "/grpc.health.v1.Health/Watch";
    const watch = watcher.makeServerStreamRequest(path, same, same, Buffer.alloc(0));
    const ended = rejection(once(watch, "end"));
    await once(watch, "data");

    await echo.server.close(60_000);

    expect(await ended).toMatchObject({ code: status.UNAVAILABLE });
    watcher.close();
    echo.client.close();
  });

  it("does not wait for connections that have not said what they want", async () => {
    await using echo = await startEcho();
    const [host = "", port = ""] = echo.address.split(":");
    const sockets = await Promise.all(
      ["", "PRI * HTTP/2"].map(async (begun) => {
        const socket = connect({ host, port: Number(port), allowHalfOpen: true });
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.write(begun);
        return socket;
      }),
    );

    await echo.server.close(600_000);

    for (const socket of sockets) socket.destroy();
  });

  it("may be asked for twice", async () => {
    await using echo = await startEcho();

    await Promise.all([echo.server.close(), echo.server.close()]);
  });
});

describe("an address", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rpc-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("may be a unix socket, which is gone after closing", async () => {
    const path = join(folder, "a.sock");
    const echo = await startEcho({}, { address: `unix:${path}` });

    const response = await echo.client.say({ text: "hi" }, { identity: alice });
    await echo[Symbol.asyncDispose]();

    expect(response).toEqual({ text: "hi" });
    expect(existsSync(path)).toBe(false);
  });

  it("may be a socket that a killed process left behind", async () => {
    const path = join(folder, "b.sock");
    await leaveSocket(path);

    await using echo = await startEcho({}, { address: `unix:${path}` });

    expect(await echo.client.say({ text: "hi" }, { identity: alice })).toEqual({ text: "hi" });
  });

  it("that another server uses is refused, which leaves that one alone", async () => {
    const path = join(folder, "c.sock");
    await using first = await startEcho({}, { address: `unix:${path}` });
    await using tcp = await startEcho();

    const errors = [
      await rejection(startEcho({}, { address: `unix:${path}` })),
      await rejection(startEcho({}, { address: tcp.address })),
    ];

    expect(errors).toMatchObject([
      { message: expect.stringContaining(path) },
      { message: expect.stringContaining(tcp.address) },
    ]);
    expect(await first.client.say({ text: "hi" }, { identity: alice })).toEqual({ text: "hi" });
  });

  it.each(["localhost", "50051", "http://localhost:1", `unix:/${"x".repeat(120)}`])(
    "of the wrong form is refused: %s",
    async (address) => {
      const error = await rejection(startEcho({}, { address }));

      expect(error).toHaveProperty("message", expect.stringMatching(/gRPC address|longer than/));
    },
  );
});

describe("a service", () => {
  it("cannot be added twice, nor to a server that listens", async () => {
    const server = createRpcServer({ logger: pino({ level: "silent" }), verifier });
    server.add(EchoService, echoMethods);

    expect(() => server.add(EchoService, echoMethods)).toThrow(/was added before/);
    await server.listen("127.0.0.1:0");
    expect(() => server.add(EchoService, echoMethods)).toThrow(/before listening/);
    await server.close();
  });

  it("can be called through a generated client class", async () => {
    await using echo = await startEcho();
    class EchoServiceClient extends Client {
      static readonly service = EchoService;
      static readonly serviceName = "test.v1.EchoService";
    }
    const token = await signer.sign(alice, { audience, ttlSeconds: 60 });
    const client = createRpcClient(EchoServiceClient, { address: echo.address });

    const response = await client.say({ text: "hi" }, { token });
    client.close();

    expect(response).toEqual({ text: "hi" });
  });
});

/** Leaves the socket file of a process that was killed while it listened. */
async function leaveSocket(path: string): Promise<void> {
  const listen = 'net.createServer().listen(process.argv[1], () => console.log("listening"))';
  const child = spawn(process.execPath, ["-e", listen, path]);
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await exited;
  expect(existsSync(path)).toBe(true);
}
