import { describe, expect, it } from "@jest/globals";
import { rpc } from "../src/index.ts";
import { alice, startEcho } from "./support.ts";

/** More messages than a connection's first window holds, each larger than the window. */
const LARGE_CALLS = 16;
const LARGE = "x".repeat(3 * 1024 * 1024);
const FEW = LARGE_CALLS / 2;
/** 48 MiB take long on a busy machine. */
const TIMEOUT_MS = 90_000;

describe("beside large messages on the same connection", () => {
  it("a small answer does not wait until all large ones have arrived", async () => {
    const allAsked = Promise.withResolvers<void>();
    let asked = 0;
    await using echo = await startEcho({
      say: rpc({
        scopes: "words:read",
        async handler({ text }) {
          if (text !== "large") return { text };
          asked += 1;
          if (asked === LARGE_CALLS) allAsked.resolve();
          await allAsked.promise;
          return { text: LARGE };
        },
      }),
    });
    const options = { identity: alice, timeoutMs: TIMEOUT_MS };
    await echo.client.say({ text: "warm" }, options);
    let arrived = 0;
    const large = Array.from({ length: LARGE_CALLS }, async () => {
      await echo.client.say({ text: "large" }, options);
      arrived += 1;
    });
    await allAsked.promise;
    await echo.client.say({ text: "small" }, options);
    expect(arrived).toBeLessThan(FEW);
    await Promise.all(large);
  });

  it("a small request does not wait until all large ones have been sent", async () => {
    let received = 0;
    let before = -1;
    await using echo = await startEcho({
      say: rpc({
        scopes: "words:read",
        handler({ text }) {
          if (text === "small") before = received;
          received += 1;
          return Promise.resolve({ text: "" });
        },
      }),
    });
    const options = { identity: alice, timeoutMs: TIMEOUT_MS };
    await echo.client.say({ text: "warm" }, options);
    received = 0;
    const large = Array.from({ length: LARGE_CALLS }, () =>
      echo.client.say({ text: LARGE }, options),
    );
    await echo.client.say({ text: "small" }, options);
    await Promise.all(large);
    expect(before).toBeLessThan(FEW);
  });
});
