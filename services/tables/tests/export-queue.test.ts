import { describe, expect, it } from "@jest/globals";
import { ChunkQueue } from "../src/export/chunk-queue.ts";
import { errorOf } from "./support/harness.ts";

const chunk = Buffer.from("ten bytes.");
const LONG_MS = 60_000;

describe("a queue of chunks", () => {
  it("hands on everything in order, whoever is faster", async () => {
    const queue = new ChunkQueue({ bytesMax: 3, stallMs: LONG_MS });
    const source = (async () => {
      for (let n = 0; n < 100; n += 1) await queue.push(Buffer.from(String(n)));
      queue.end();
    })();
    const read = await Array.fromAsync(queue, (each) => Number(each.toString()));
    await source;
    expect(read).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it("lets the source go on until the limit is passed", async () => {
    const queue = new ChunkQueue({ bytesMax: 25, stallMs: LONG_MS });
    await queue.push(chunk);
    await queue.push(chunk);
    let isPushed = false;
    const third = queue.push(chunk).then(() => (isPushed = true));
    const iterator = queue[Symbol.asyncIterator]();
    await Promise.resolve();
    expect(isPushed).toBe(false);
    await iterator.next();
    await third;
    expect(isPushed).toBe(true);
  });

  it("gives a reader up that takes nothing for too long", async () => {
    const queue = new ChunkQueue({ bytesMax: 5, stallMs: 20 });
    expect(await errorOf(queue.push(chunk))).toMatchObject({
      reason: "UNAVAILABLE",
      message: "The export was read too slowly.",
    });
  });

  it("tells the source that its reader has left", async () => {
    const queue = new ChunkQueue({ bytesMax: 5, stallMs: LONG_MS });
    const pushing = queue.push(chunk);
    for await (const each of queue) {
      expect(each).toBe(chunk);
      break;
    }
    await pushing.catch(() => {});
    expect(await errorOf(queue.push(chunk))).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("throws the source's error after what came before it", async () => {
    const queue = new ChunkQueue({ bytesMax: 100, stallMs: LONG_MS });
    const broken = new Error("The disk is gone.");
    await queue.push(chunk);
    queue.end({ error: broken });
    const read: Buffer[] = [];
    await expect(
      (async () => {
        for await (const each of queue) read.push(each);
      })(),
    ).rejects.toBe(broken);
    expect(read).toEqual([chunk]);
  });
});
