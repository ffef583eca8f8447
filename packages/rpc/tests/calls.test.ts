import { describe, expect, it } from "@jest/globals";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { waitFor } from "@workflow/testkit";
import {
  createRpcClient,
  rpc,
  rpcClientStream,
  rpcServerStream,
  subCallOptions,
} from "../src/index.ts";
import type { RpcContext } from "../src/index.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";
import type { EchoImplementation, Word } from "./support.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("types", () => {
  it("demand every method, its messages and its scopes", () => {
    const say = rpc<Word, Word>({ scopes: "words:read", handler: async (word) => word });
    const repeat = rpcServerStream<Word, Word>({ scopes: "words:read", async *handler() {} });
    const join = rpcClientStream<Word, Word>({
      scopes: "words:write",
      handler: async () => ({ text: "" }),
    });
    const wrong = rpc<{ count: number }, Word>({
      scopes: "words:read",
      handler: async ({ count }) => ({ text: String(count) }),
    });

    const complete: EchoImplementation = { say, repeat, join };
    // @ts-expect-error a method is missing
    const missing: EchoImplementation = { say, repeat };
    // @ts-expect-error the request has another type
    const mistyped: EchoImplementation = { say: wrong, repeat, join };
    // @ts-expect-error a unary method is no stream
    const misplaced: EchoImplementation = { say, repeat: say, join };
    // @ts-expect-error a method of one request is none of many
    const swapped: EchoImplementation = { say, repeat, join: say };
    // @ts-expect-error no scope is declared
    const unguarded = rpc<Word, Word>({ handler: async (word) => word });

    expect([complete, missing, mistyped, misplaced, swapped, unguarded]).toHaveLength(6);
  });
});

describe("a deadline", () => {
  it("ends the call for both sides", async () => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({ say: hanging(contexts) });
    // The deadline is of the call, not of the connection.
    await echo.client.waitForReady(10_000);

    const error = await rejection(
      echo.client.say({ text: "" }, { identity: alice, timeoutMs: 500 }),
    );

    expect(error).toMatchObject({
      reason: "UNAVAILABLE",
      message: "The service did not answer in time.",
    });
    await waitFor(() => contexts[0]?.signal.aborted === true);
    await waitFor(() => echo.outcomes.length > 0);
    // The client's own clock may cancel the call just before the server's runs out.
    expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(echo.outcomes[0]?.code);
  });

  it("is what the handler is told", async () => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({ say: recording(contexts) });
    const began = Date.now();
    const deadline = new Date(began + 30_000);

    await echo.client.say({ text: "" }, { identity: alice, deadline, timeoutMs: 60_000 });

    // The remaining time is sent, so the time on the way adds to it.
    const wayMs = Date.now() - began;
    const told = contexts[0]?.deadline.getTime() ?? 0;
    expect(told).toBeGreaterThan(deadline.getTime() - 1_000);
    expect(told).toBeLessThan(deadline.getTime() + wayMs + 1_000);
  });

  it.each([
    ["a time", () => ({ timeoutMs: 30 * 86_400_000 })],
    ["a date", () => ({ deadline: new Date(Date.now() + 30 * 86_400_000) })],
    ["a default", () => ({})],
  ])("is weeks away for who gives %s beyond what a timer can count", async (_name, timeOf) => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({ say: recording(contexts) });
    const options = { address: echo.address, minter, defaultTimeoutMs: 30 * 86_400_000 };
    const client = createRpcClient(EchoService, options);
    await client.say({ text: "" }, { identity: alice, ...timeOf() });
    client.close();
    const told = contexts[0]?.deadline.getTime() ?? 0;
    expect(told).toBeGreaterThan(Date.now() + 20 * 86_400_000);
  });

  it("is set by the server when the caller sends none", async () => {
    await using echo = await startEcho({ say: hanging([]) }, { defaultDeadlineMs: 50 });
    const client = new Client(echo.address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${await minter.mint(alice)}`);

    const code = await new Promise((resolve) => {
      const { path, requestSerialize, responseDeserialize } = EchoService.say;
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { text: "" },
        metadata,
        (error) => resolve(error?.code),
      );
    });
    client.close();

    expect(code).toBe(4);
    expect(echo.outcomes).toMatchObject([{ code: "DEADLINE_EXCEEDED" }]);
  });
});

describe("a cancellation", () => {
  it("reaches the handler's signal", async () => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({ say: hanging(contexts) });
    const controller = new AbortController();

    const call = rejection(
      echo.client.say({ text: "" }, { identity: alice, signal: controller.signal }),
    );
    await waitFor(() => contexts.length === 1);
    controller.abort(new Error("changed my mind"));

    expect(await call).toMatchObject({
      reason: "UNAVAILABLE",
      cause: { message: "changed my mind" },
    });
    await waitFor(() => contexts[0]?.signal.aborted === true);
    await waitFor(() => echo.outcomes.length > 0);
    expect(echo.outcomes).toMatchObject([{ code: "CANCELLED" }]);
  });

  it("before the call makes no call", async () => {
    await using echo = await startEcho();

    const error = await rejection(
      echo.client.say({ text: "" }, { identity: alice, signal: AbortSignal.abort() }),
    );

    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    expect(echo.outcomes).toEqual([]);
  });
});

describe("a call made while serving another", () => {
  it("carries on its identity, ids and cancellation and ends before it", async () => {
    const outer: RpcContext[] = [];
    const inner: RpcContext[] = [];
    await using callee = await startEcho({ say: recording(inner) });
    const client = createRpcClient(EchoService, { address: callee.address, minter });
    await using caller = await startEcho({
      say: rpc({
        scopes: "words:read",
        handler: async (request, context) => {
          outer.push(context);
          return client.say(request, subCallOptions(context));
        },
      }),
    });

    await caller.client.say(
      { text: "" },
      { identity: alice, requestId: "req-1", traceparent: TRACEPARENT, timeoutMs: 20_000 },
    );
    client.close();

    const [seen] = inner;
    expect(seen?.identity).toEqual(alice);
    expect(seen?.requestId).toBe("req-1");
    expect(seen?.traceparent).toBe(TRACEPARENT);
    expect(seen?.deadline.getTime()).toBeLessThan(outer[0]?.deadline.getTime() ?? 0);
  });
});

describe("ids of a request", () => {
  it("that are malformed are replaced or dropped", async () => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({ say: recording(contexts) });

    await echo.client.say(
      { text: "" },
      { identity: alice, requestId: "two words", traceparent: "nonsense" },
    );

    expect(contexts[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(contexts[0]?.traceparent).toBeUndefined();
  });
});

describe("the log", () => {
  it("has one line a request with who, what, how it ended and how long it took", async () => {
    await using echo = await startEcho({
      say: rpc({
        scopes: "words:read",
        handler: async (request, { log }) => {
          log.info("inside");
          return request;
        },
      }),
    });
    const noScope = { ...alice, scopes: [] };

    await echo.client.say({ text: "body" }, { identity: alice, requestId: "r-1" });
    await rejection(echo.client.say({ text: "body" }, { identity: noScope, requestId: "r-2" }));
    await rejection(echo.client.say({ text: "body" }, { requestId: "r-3" }));

    const rpcName = "test.v1.EchoService/Say";
    const company = "company-1";
    expect(echo.logged).toMatchObject([
      { level: 30, msg: "inside", requestId: "r-1", company, rpc: rpcName },
      { level: 20, requestId: "r-1", company, rpc: rpcName, code: "OK" },
      { level: 30, requestId: "r-2", company, rpc: rpcName, code: "PERMISSION_DENIED" },
      { level: 30, requestId: "r-3", rpc: rpcName, code: "UNAUTHENTICATED" },
    ]);
    expect(echo.logged[1]).toHaveProperty("durationMs", expect.any(Number));
    expect(JSON.stringify(echo.logged)).not.toMatch(/body|Bearer|eyJ/);
    expect(echo.outcomes.map(({ code }) => code)).toEqual([
      "OK",
      "PERMISSION_DENIED",
      "UNAUTHENTICATED",
    ]);
  });
});

function recording(contexts: RpcContext[]): EchoImplementation["say"] {
  return rpc({
    scopes: "words:read",
    handler: async (request, context) => {
      contexts.push(context);
      return request;
    },
  });
}

/** Waits until its signal is aborted. */
function hanging(contexts: RpcContext[]): EchoImplementation["say"] {
  return rpc({
    scopes: "words:read",
    handler: (_, context) => {
      contexts.push(context);
      return new Promise((_resolve, reject) => {
        context.signal.addEventListener("abort", () => reject(context.signal.reason));
      });
    },
  });
}
