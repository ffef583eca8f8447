import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { rpcServerStream } from "../src/index.ts";
import type { RpcContext } from "../src/index.ts";
import { alice, rejection, rejectionOnceBegun, settled, startEcho } from "./support.ts";
import type { EchoImplementation, Word } from "./support.ts";

describe("a server stream", () => {
  it("delivers every item in order", async () => {
    await using echo = await startEcho();
    const text = Array.from({ length: 500 }, (_, i) => String(i)).join(" ");

    const items = await collect(echo.client.repeat({ text }, { identity: alice }));

    expect(items.join(" ")).toBe(text);
    await waitFor(() => echo.outcomes.length > 0);
    expect(echo.outcomes).toMatchObject([{ code: "OK" }]);
  });

  it("takes items from the handler only as fast as they are read", async () => {
    const total = 400;
    let made = 0;
    await using echo = await startEcho({
      repeat: rpcServerStream({
        scopes: "words:read",
        async *handler() {
          for (; made < total; made += 1) yield { text: "x".repeat(64 * 1024) };
        },
      }),
    });
    let read = 0;
    let madeWhilePaused = 0;

    for await (const { text } of echo.client.repeat({ text: "" }, { identity: alice })) {
      if (read === 0) madeWhilePaused = await settled(() => made);
      read += text.length > 0 ? 1 : 0;
    }

    expect(read).toBe(total);
    expect(madeWhilePaused).toBeLessThan(total / 2);
  });

  it("is cancelled when the client stops reading", async () => {
    const watched = watching();
    await using echo = await startEcho({ repeat: watched.method });

    for await (const { text } of echo.client.repeat({ text: "" }, { identity: alice })) {
      expect(text).toBe("first");
      break;
    }

    await waitFor(() => watched.closed());
    await waitFor(() => echo.outcomes.length > 0);
    expect(echo.outcomes).toMatchObject([{ code: "CANCELLED" }]);
  });

  it("is cancelled by the caller's signal", async () => {
    const watched = watching();
    await using echo = await startEcho({ repeat: watched.method });
    const controller = new AbortController();

    const error = await rejection(
      (async () => {
        const options = { identity: alice, signal: controller.signal };
        for await (const _ of echo.client.repeat({ text: "" }, options)) controller.abort();
      })(),
    );

    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => watched.closed());
  });

  it("ends at its deadline", async () => {
    const watched = watching();
    await using echo = await startEcho({ repeat: watched.method });

    const error = await rejectionOnceBegun(
      () => watched.contexts.length > 0,
      (timeoutMs) => collect(echo.client.repeat({ text: "" }, { identity: alice, timeoutMs })),
    );

    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => watched.closed());
  });

  it("ends with UNAVAILABLE when the server closes, without using up its grace", async () => {
    const watched = watching();
    await using echo = await startEcho({ repeat: watched.method });
    const error = rejection(collect(echo.client.repeat({ text: "" }, { identity: alice })));
    await waitFor(() => watched.contexts.length === 1);

    await echo.server.close(60_000);

    expect(await error).toMatchObject({
      reason: "UNAVAILABLE",
      message: "The service is shutting down.",
    });
  });
});

/** A stream of one item that then waits for its signal. */
function watching() {
  const contexts: RpcContext[] = [];
  let isClosed = false;
  const method: EchoImplementation["repeat"] = rpcServerStream({
    scopes: "words:read",
    async *handler(_, context) {
      contexts.push(context);
      try {
        yield { text: "first" };
        await new Promise((resolve) => {
          if (context.signal.aborted) resolve(undefined);
          context.signal.addEventListener("abort", resolve);
        });
      } finally {
        isClosed = true;
      }
    },
  });
  return { method, contexts, closed: () => isClosed };
}

async function collect(items: AsyncIterable<Word>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of items) texts.push(text);
  return texts;
}
