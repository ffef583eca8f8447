import { describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { waitFor } from "@workflow/testkit";
import { createRpcClient, rpcClientStream } from "../src/index.ts";
import type { RpcContext } from "../src/index.ts";
import {
  alice,
  EchoService,
  endless,
  minter,
  rejection,
  rejectionOnceBegun,
  settled,
  startEcho,
} from "./support.ts";
import type { EchoImplementation, Word } from "./support.ts";

const options = { identity: alice };

describe("a client stream", () => {
  it("brings every request in order and then the answer", async () => {
    await using echo = await startEcho();
    const numbers = Array.from({ length: 500 }, (_, i) => ({ text: String(i) }));

    const answer = await echo.client.join(numbers, options);

    expect(answer.text).toBe(numbers.map(({ text }) => text).join(" "));
    await waitFor(() => echo.outcomes.length > 0);
    expect(echo.outcomes).toMatchObject([{ rpc: "test.v1.EchoService/Join", code: "OK" }]);
  });

  it("may have no request at all", async () => {
    await using echo = await startEcho();
    expect(await echo.client.join([], options)).toEqual({ text: "" });
  });

  it("takes requests only as fast as the handler reads them", async () => {
    const total = 400;
    const gate = Promise.withResolvers<void>();
    let read = 0;
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        async handler(words) {
          for await (const { text } of words) {
            if (read === 0) await gate.promise;
            read += text.length > 0 ? 1 : 0;
          }
          return { text: "" };
        },
      }),
    });
    let made = 0;
    function* words(): Generator<Word> {
      for (; made < total; made += 1) yield { text: "x".repeat(256 * 1024) };
    }

    const answer = echo.client.join(words(), options);
    const madeWhilePaused = await settled(() => made);
    gate.resolve();
    await answer;

    expect(read).toBe(total);
    // One request is with the handler, others are in the connection's buffers.
    expect(madeWhilePaused).toBeLessThan(10);
  });

  it("gives large requests one at a time to a handler that pauses at each", async () => {
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        async handler(words) {
          let length = 0;
          for await (const { text } of words) {
            await new Promise((resolve) => setImmediate(resolve));
            length += text.length;
          }
          return { text: String(length) };
        },
      }),
    });
    const large = Array.from({ length: 10 }, () => ({ text: "x".repeat(5 * 1024 * 1024) }));
    expect(await echo.client.join(large, options)).toEqual({ text: String(50 * 1024 * 1024) });
  });

  it("is refused without the scope, before anything is read", async () => {
    let isCalled = false;
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        handler: async () => {
          isCalled = true;
          return { text: "" };
        },
      }),
    });
    const source = endless();
    const identity = { ...alice, scopes: ["words:read"] };

    expect(await rejection(echo.client.join(source.words, { identity }))).toMatchObject({
      reason: "FORBIDDEN",
    });

    await waitFor(() => source.isClosed());
    expect(isCalled).toBe(false);
  });

  it("hands identity and request id to the handler", async () => {
    const contexts: RpcContext[] = [];
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        async handler(_, context) {
          contexts.push(context);
          return { text: "" };
        },
      }),
    });
    await echo.client.join([], { ...options, requestId: "request-1" });
    expect(contexts).toMatchObject([{ identity: alice, requestId: "request-1" }]);
  });
});

describe("a client stream that ends early", () => {
  it("rejects with what the handler throws, while requests still come", async () => {
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        async handler(words) {
          for await (const { text } of words) {
            throw new AppError("BAD_REQUEST", "No good word.", {
              violations: [{ path: ["words", "0"], message: `not ${text}` }],
            });
          }
          return { text: "" };
        },
      }),
    });
    const source = endless();

    expect(await rejection(echo.client.join(source.words, options))).toMatchObject({
      reason: "BAD_REQUEST",
      message: "No good word.",
      violations: [{ path: ["words", "0"], message: "not again" }],
    });

    await waitFor(() => source.isClosed());
    await waitFor(() => echo.outcomes.length > 0);
    expect(echo.outcomes).toMatchObject([{ code: "INVALID_ARGUMENT" }]);
  });

  it("takes an answer that does not wait for the rest", async () => {
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        handler: async () => ({ text: "enough" }),
      }),
    });
    const source = endless();
    expect(await echo.client.join(source.words, options)).toEqual({ text: "enough" });
    await waitFor(() => source.isClosed());
  });

  it("does not wait for a source that hangs", async () => {
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        handler: async () => ({ text: "enough" }),
      }),
    });
    expect(await echo.client.join(hanging([]), options)).toEqual({ text: "enough" });
  });

  it("is cancelled by what its source throws, which the caller gets", async () => {
    const reader = reading();
    await using echo = await startEcho({ join: reader.method });
    const broken = new Error("The disk is gone.");
    async function* words(): AsyncGenerator<Word> {
      yield { text: "one" };
      await waitFor(() => reader.read() === 1);
      throw broken;
    }

    expect(await rejection(echo.client.join(words(), options))).toBe(broken);

    await waitFor(() => reader.isDone());
  });

  it("is cancelled by the caller's signal, and closes its source", async () => {
    const reader = reading();
    await using echo = await startEcho({ join: reader.method });
    const controller = new AbortController();
    const answer = rejection(
      echo.client.join(hanging(["one"]), { ...options, signal: controller.signal }),
    );
    await waitFor(() => reader.read() === 1);

    controller.abort();

    expect(await answer).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => reader.isDone());
  });

  it("is noticed by a handler that does not read at the moment", async () => {
    const aborted = Promise.withResolvers<unknown>();
    let hasBegun = false;
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        handler: (_, context) =>
          new Promise((_resolve, reject) => {
            hasBegun = true;
            const end = (): void => {
              aborted.resolve(context.signal.reason);
              reject(context.signal.reason);
            };
            if (context.signal.aborted) end();
            else context.signal.addEventListener("abort", end);
          }),
      }),
    });
    let source = endless();
    const error = await rejectionOnceBegun(
      () => hasBegun,
      (timeoutMs) => {
        source = endless();
        return echo.client.join(source.words, { ...options, timeoutMs });
      },
    );
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    expect(await aborted.promise).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => source.isClosed());
  });

  it("ends at its deadline when the client stalls", async () => {
    const reader = reading();
    await using echo = await startEcho({ join: reader.method });
    const error = await rejectionOnceBegun(
      () => reader.read() > 0,
      (timeoutMs) => echo.client.join(hanging(["one"]), { ...options, timeoutMs }),
    );
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => reader.isDone());
  });

  it("ends at the server's own deadline when the caller sends none", async () => {
    const reader = reading();
    const error = await rejectionOnceBegun(reader.hasBegun, async (defaultStreamDeadlineMs) => {
      await using echo = await startEcho({ join: reader.method }, { defaultStreamDeadlineMs });
      // An infinite deadline is not sent.
      return await echo.client.join(hanging([]), { ...options, timeoutMs: Infinity });
    });
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => reader.isDone());
    expect(reader.error()).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("rejects with BAD_REQUEST when a request cannot be decoded", async () => {
    await using echo = await startEcho();
    const encode = (): Buffer => Buffer.from("no JSON");
    const raw = { join: { ...EchoService.join, requestSerialize: encode } };
    const client = createRpcClient(raw, { address: echo.address, minter });
    try {
      expect(await rejection(client.join([{ text: "?" }], options))).toMatchObject({
        reason: "BAD_REQUEST",
      });
    } finally {
      client.close();
    }
  });
});

describe("a server that closes", () => {
  it("ends client streams that still send, without using up its grace", async () => {
    const reader = reading();
    await using echo = await startEcho({ join: reader.method });
    const answer = rejection(echo.client.join(hanging(["one"]), options));
    await waitFor(() => reader.read() === 1);

    await echo.server.close(60_000);

    expect(await answer).toMatchObject({
      reason: "UNAVAILABLE",
      message: "The service is shutting down.",
    });
    expect(reader.error()).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("finishes those that have sent everything", async () => {
    const gate = Promise.withResolvers<void>();
    let isReceived = false;
    await using echo = await startEcho({
      join: rpcClientStream({
        scopes: "words:write",
        async handler(words) {
          for await (const word of words) expect(word).toEqual({ text: "one" });
          isReceived = true;
          await gate.promise;
          return { text: "done" };
        },
      }),
    });
    const answer = echo.client.join([{ text: "one" }], options);
    await waitFor(() => isReceived);

    const closing = echo.server.close(60_000);
    gate.resolve();

    expect(await answer).toEqual({ text: "done" });
    await closing;
  });
});

/** A method that reads all requests and remembers the end. */
function reading() {
  let count = 0;
  let hasBegun = false;
  let isDone = false;
  let error: unknown;
  const method: EchoImplementation["join"] = rpcClientStream({
    scopes: "words:write",
    async handler(words) {
      hasBegun = true;
      try {
        for await (const { text } of words) count += text === "" ? 0 : 1;
        return { text: "" };
      } catch (caught) {
        error = caught;
        throw caught;
      } finally {
        isDone = true;
      }
    },
  });
  return {
    method,
    read: () => count,
    hasBegun: () => hasBegun,
    isDone: () => isDone,
    error: () => error,
  };
}

/** Some words, and then an endless wait. */
async function* hanging(texts: readonly string[]): AsyncGenerator<Word> {
  for (const text of texts) yield { text };
  await new Promise(() => {});
}
