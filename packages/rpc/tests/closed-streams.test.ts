import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Http2Stream } from "node:http2";
import { expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { rpc, rpcServerStream } from "../src/index.ts";
import { tellsOfStream } from "../src/session-windows.ts";
import { alice, startEcho } from "./support.ts";
import type { Word } from "./support.ts";

const CHANNELS = ["http2.client.stream.created", "http2.server.stream.created"];
/** The values that Node keeps on a stream of each side; see closed-streams.ts. */
const KEPT = ["authority", "requestAsyncResource", "sent-headers", "sent-trailers"];

it("a stream that has closed keeps nothing of its call (ADR 58)", async () => {
  const streams: Http2Stream[] = [];
  const collect = (message: unknown): void => {
    if (tellsOfStream(message)) streams.push(message.stream);
  };
  for (const channel of CHANNELS) subscribe(channel, collect);
  try {
    await using echo = await startEcho({
      say: rpc<Word, Word>({ scopes: "words:read", handler: async (word) => word }),
      repeat: rpcServerStream<Word, Word>({
        scopes: "words:read",
        async *handler(word) {
          yield word;
          yield word;
        },
      }),
    });
    const answer = await echo.client.say({ text: "hello" }, { identity: alice });
    expect(answer).toEqual({ text: "hello" });
    const repeated = [];
    for await (const word of echo.client.repeat({ text: "again" }, { identity: alice })) {
      repeated.push(word.text);
    }
    expect(repeated).toEqual(["again", "again"]);

    expect(streams).toHaveLength(4);
    await waitFor(() => streams.every(({ closed, destroyed }) => closed && destroyed));
    const found = new Set<string>();
    for (const stream of streams) {
      await waitFor(() => stream.eventNames().every((name) => name === "error"));
      for (const symbol of Object.getOwnPropertySymbols(stream)) {
        const { description = "" } = symbol;
        if (!KEPT.includes(description)) continue;
        found.add(description);
        expect([description, Reflect.get(stream, symbol)]).toEqual([description, undefined]);
      }
    }
    // A Node with other names would keep the values, and closed-streams.ts would have to follow.
    expect(found).toEqual(new Set(KEPT));
  } finally {
    for (const channel of CHANNELS) unsubscribe(channel, collect);
  }
});
