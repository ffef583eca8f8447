import { describe, expect, it } from "@jest/globals";
import { answerTogether, Batcher } from "../src/index.ts";
import type { Asked, BatcherOptions } from "../src/index.ts";

interface Gate {
  batch: string[];
  open: (error?: Error) => void;
}

/** A batcher of words whose batches end when the test says so; it answers in upper case. */
function gated(options: Omit<BatcherOptions<string, string>, "handle"> & { gates: Gate[] }) {
  const { gates, ...rest } = options;
  return new Batcher<string, string>({
    ...rest,
    handle: answerTogether(async (batch) => {
      const end = Promise.withResolvers<void>();
      const open = (error?: Error): void =>
        error === undefined ? end.resolve() : end.reject(error);
      gates.push({ batch: [...batch], open });
      await end.promise;
      return batch.map((word) => word.toUpperCase());
    }),
  });
}

/** Lets batches that are due begin, and the ends of others be noticed. */
async function turn(): Promise<void> {
  await new Promise(setImmediate);
}

function batchesOf(gates: readonly Gate[]): string[][] {
  return gates.map(({ batch }) => batch);
}

describe("a batcher", () => {
  it("handles together what is asked for in one turn of the event loop", async () => {
    const gates: Gate[] = [];
    const words = gated({ itemsMax: 10, gates });
    const answers = Promise.all(["a", "b", "c"].map((word) => words.ask(word)));
    await turn();
    const later = words.ask("d");
    await turn();

    expect(batchesOf(gates)).toEqual([["a", "b", "c"], ["d"]]);
    for (const { open } of gates) open();
    expect(await answers).toEqual(["A", "B", "C"]);
    expect(await later).toBe("D");
  });

  it("lets items gather while as many batches as allowed are under way", async () => {
    const gates: Gate[] = [];
    const words = gated({ itemsMax: 10, batchesMax: 1, gates });
    const first = words.ask("a");
    await turn();
    const others = ["b", "c"].map((word) => words.ask(word));
    await turn();
    others.push(words.ask("d"));
    await turn();
    expect(batchesOf(gates)).toEqual([["a"]]);

    gates[0]?.open();
    await first;
    await turn();

    expect(batchesOf(gates)).toEqual([["a"], ["b", "c", "d"]]);
    gates[1]?.open();
    expect(await Promise.all(others)).toEqual(["B", "C", "D"]);
  });

  it("fills a batch up to its limits; a single item may be larger", async () => {
    const gates: Gate[] = [];
    const words = gated({ itemsMax: 3, sizeMax: 5, sizeOf: ({ length }) => length, gates });
    const asked = ["a", "b", "c", "d", "eeee", "ffffffff", "g"].map((word) => words.ask(word));
    await turn();

    expect(batchesOf(gates)).toEqual([["a", "b", "c"], ["d", "eeee"], ["ffffffff"], ["g"]]);
    for (const { open } of gates) open();
    await Promise.all(asked);
  });

  it("puts one item of a key into a batch, and the first one first", async () => {
    const gates: Gate[] = [];
    const keyOf = (word: string): string | null => (word.startsWith("-") ? null : word.slice(0, 1));
    const words = gated({ itemsMax: 10, batchesMax: 1, keyOf, gates });
    const asked = ["a1", "-", "a2", "b1", "-", "a3", "b2"].map((word) => words.ask(word));
    for (let batch = 0; batch < 3; batch += 1) {
      await turn();
      gates[batch]?.open();
    }

    await Promise.all(asked);
    expect(batchesOf(gates)).toEqual([["a1", "-", "b1", "-"], ["a2", "b2"], ["a3"]]);
  });

  it("leaves held keys in line until it is told to resume", async () => {
    const gates: Gate[] = [];
    const held = new Set(["a"]);
    const words = gated({
      itemsMax: 10,
      keyOf: (word) => word.slice(0, 1),
      isHeld: (key) => held.has(key),
      gates,
    });
    const asked = ["a1", "b1", "a2"].map((word) => words.ask(word));
    await turn();
    expect(batchesOf(gates)).toEqual([["b1"]]);
    let isIdle = false;
    const idle = words.whenIdle().then(() => (isIdle = true));
    gates[0]?.open();
    await turn();
    expect(isIdle).toBe(false);

    held.clear();
    words.resume();
    await turn();

    expect(batchesOf(gates)).toEqual([["b1"], ["a1"], ["a2"]]);
    for (const { open } of gates) open();
    await Promise.all([...asked, idle]);
  });

  it("takes one item of each tenant before a second of one, and goes on where it stopped", async () => {
    const gates: Gate[] = [];
    const tenantOf = (word: string): string => word.slice(0, 1);
    const words = gated({ itemsMax: 4, batchesMax: 1, tenantOf, gates });
    const asked = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((word) => words.ask(word));
    await turn();
    gates[0]?.open();
    await turn();
    gates[1]?.open();

    await Promise.all(asked);
    expect(batchesOf(gates)).toEqual([
      ["a1", "b1", "c1", "a2"],
      ["b2", "a3", "a4"],
    ]);
  });

  it("tells an error of a batch to all of its items, and goes on with the next", async () => {
    const gates: Gate[] = [];
    const words = gated({ itemsMax: 2, batchesMax: 1, gates });
    const asked = Promise.allSettled(["a", "b", "c"].map((word) => words.ask(word)));
    await turn();
    const reason = new Error("away");
    gates[0]?.open(reason);
    await turn();
    gates[1]?.open();

    expect(await asked).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
      { status: "fulfilled", value: "C" },
    ]);
  });

  it("finds the one item that a batch fails for", async () => {
    const batches: string[][] = [];
    const words = new Batcher<string, string>({
      itemsMax: 10,
      handle: answerTogether(async (batch) => {
        batches.push([...batch]);
        if (batch.includes("bad")) throw new Error("bad word");
        return batch;
      }),
      isOfOneItem: () => true,
    });

    const asked = await Promise.allSettled(["a", "bad", "b"].map((word) => words.ask(word)));

    expect(asked.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(batches).toEqual([["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
  });

  it("answers each item as soon as that is known", async () => {
    let batch: readonly Asked<string, string>[] = [];
    const end = Promise.withResolvers<void>();
    const words = new Batcher<string, string>({
      itemsMax: 10,
      handle: (asked) => {
        batch = asked;
        return end.promise;
      },
    });
    const [first, second] = [words.ask("a"), words.ask("b")];
    await turn();

    batch[0]?.resolve("early");
    expect(await first).toBe("early");
    // An error of the rest does not change what was answered.
    end.reject(new Error("away"));
    await expect(second).rejects.toThrow("away");
    expect(await first).toBe("early");
  });

  it("leaves nobody without an answer when a batch has too few", async () => {
    const words = new Batcher<string, string>({
      itemsMax: 10,
      handle: answerTogether(async () => ["only one"]),
    });

    const asked = await Promise.allSettled([words.ask("a"), words.ask("b")]);

    expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("is idle when nothing waits and nothing is under way", async () => {
    const gates: Gate[] = [];
    const idle: number[] = [];
    const words = gated({
      itemsMax: 1,
      batchesMax: 1,
      gates,
      onIdle: () => idle.push(gates.length),
    });
    await words.whenIdle();
    const asked = ["a", "b"].map((word) => words.ask(word));
    const drained = words.whenIdle();
    await turn();
    gates[0]?.open();
    await turn();
    expect(idle).toEqual([]);
    gates[1]?.open();

    await drained;
    await Promise.all(asked);
    expect(idle).toEqual([2]);
  });
});
