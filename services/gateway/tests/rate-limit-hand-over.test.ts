import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { processClock } from "../src/rate-limits/clock.ts";
import { HandOver } from "../src/rate-limits/hand-over.ts";
import { Members } from "../src/rate-limits/members.ts";
import { readGatewayMessage } from "../src/rate-limits/messages.ts";
import { PeerExchange } from "../src/rate-limits/peer-exchange.ts";
import { Sources } from "../src/rate-limits/sources.ts";
import { WindowStore } from "../src/rate-limits/window-store.ts";

const MINUTE_MS = 60_000;

describe("what gateways hand over", () => {
  const WINDOWS = 300;
  const ENTRIES = 3_000;

  /** Windows with many entries each, and one other gateway that has to know of them. */
  function createHandOver(tell: (entries: number) => void) {
    const clock = { ...processClock, now: () => 1_000_000 };
    const members = new Members("self");
    members.hear("other", 0);
    const store = new WindowStore(MINUTE_MS);
    for (let index = 0; index < WINDOWS; index += 1) {
      const { moments } = store.open(`${index}|read`, clock.now());
      for (let age = ENTRIES; age > 0; age -= 1) moments.add(clock.now() - age * 10, 0);
    }
    return new HandOver({
      windowMs: MINUTE_MS,
      clock,
      members,
      store,
      sources: new Sources("self", MINUTE_MS),
      tell: (_, [, , ages]) => tell(ages.length / 2),
    });
  }

  it("is so much in a turn that requests have theirs", async () => {
    const turns: [windows: number, pairs: number][] = [[0, 0]];
    const handOver = createHandOver((pairs) => {
      const turn = turns.at(-1);
      if (turn === undefined) throw new Error("There is no turn.");
      turn[0] += 1;
      turn[1] += pairs;
    });
    let isDone = false;
    const told = handOver.tellAll().then(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextTurn();
      turns.push([0, 0]);
    }
    await told;
    // Each window is reported once, with a tenth of a second in each pair.
    expect(turns.reduce((sum, [windows]) => sum + windows, 0)).toBe(WINDOWS);
    for (const [windows, pairs] of turns) {
      expect(windows).toBeLessThanOrEqual(2);
      expect(pairs).toBeLessThanOrEqual(2 * (ENTRIES / 10 + 1));
    }
  });

  it("goes in small messages, each of which can be read", async () => {
    const sent: string[] = [];
    const never = (): never => {
      throw new Error("Nobody answers.");
    };
    const exchange = new PeerExchange({
      self: "self",
      clock: processClock,
      send: (_, message) => sent.push(JSON.stringify(message)) > 0,
      decide: never,
      learn: never,
      note: never,
      view: never,
    });
    const ages = Array.from({ length: 1_200 }, (_, index) =>
      index % 2 === 0 ? 60_000 - index : 3,
    );
    for (let key = 0; key < 200; key += 1) exchange.tell("other", [`${key}|read`, "self", ages]);
    await nextTurn();
    let keys = 0;
    for (const text of sent) {
      expect(text.length).toBeLessThan(64 * 1024);
      const message = readGatewayMessage(text);
      if (message.kind === "batch") keys += message.told.length;
    }
    expect(keys).toBe(200);
  });

  it("is refused as a whole where a part of a batch is not what gateways send", () => {
    const batch = {
      kind: "batch",
      from: "other",
      told: [["a|read", "other", [10, 2, 5, 1]]],
      passed: [["other", ["a|read"]]],
      asked: {
        id: 1,
        questions: [{ claims: [["a|read", 5]], isPassed: false, source: "other", hops: 1 }],
      },
      answered: [{ id: 1, outcomes: [[-1, 0, 1, 60_000]] }],
    };
    const read = (changes: object) => readGatewayMessage(JSON.stringify({ ...batch, ...changes }));
    expect(read({})).toEqual(batch);
    const question = batch.asked.questions[0];
    for (const changes of [
      { kind: "other" },
      { from: 1 },
      { told: [["a|read", "other", [10]]] },
      { told: [["a|read", "other", [10, -1]]] },
      { told: [["a|read", "other", [10, 1.5]]] },
      { told: [["a|read", "other"]] },
      { told: { length: 1 } },
      { passed: [["other", [1]]] },
      { passed: [null] },
      { asked: { id: 1 } },
      { asked: { id: "1", questions: [] } },
      { asked: { id: 1, questions: [{ ...question, claims: [["a|read"]] }] } },
      { asked: { id: 1, questions: [{ ...question, hops: undefined }] } },
      { answered: [{ id: 1, outcomes: [[-1, 0, 1]] }] },
      { answered: [{ id: 1, outcomes: [[-1, 0, 1, null]] }] },
      { answered: [{ id: 1, outcomes: [[-1, 0, 1, 60_000]], places: [] }] },
      { answered: [{ id: 1, outcomes: [[-1, 0, 1, 60_000]], places: [-1] }] },
      { asked: { ...batch.asked, takesParts: 1 } },
    ]) {
      expect(() => read(changes)).toThrow(TypeError);
    }
  });

  it("is refused where a part of a heartbeat is not what gateways send, or it is of no kind", () => {
    const beat = {
      kind: "here",
      from: "other",
      isNew: true,
      isSlow: false,
      at: 5,
      read: [["self", 3]],
      view: 7,
    };
    const readBeat = (changes: object) =>
      readGatewayMessage(JSON.stringify({ ...beat, ...changes }));
    expect(readBeat({})).toEqual(beat);
    for (const changes of [
      { isNew: 1 },
      { isSlow: undefined },
      { at: 1.5 },
      { read: [["self"]] },
      { read: [["self", -1]] },
      { read: {} },
      { view: null },
    ]) {
      expect(() => readBeat(changes)).toThrow(TypeError);
    }
    for (const text of ["null", "1", "[]", "{}", ""]) {
      expect(() => readGatewayMessage(text)).toThrow();
    }
  });
});

describe("sources", () => {
  it("are forgotten when nothing of theirs counts any more, and their numbers used again", () => {
    const sources = new Sources("self", MINUTE_MS);
    let now = 0;
    for (let gateway = 0; gateway < 2_000; gateway += 1) {
      const number = sources.numberOf(`gateway ${gateway}`, now);
      expect(sources.nameOf(number)).toBe(`gateway ${gateway}`);
      expect(sources.numberOf("who stays", now)).toBe(sources.numberOf("who stays", now));
      expect(number).not.toBe(sources.numberOf("who stays", now));
      now += 1_000;
    }
    expect(sources.size).toBeLessThan(70);
    expect(sources.numberOf("self", now)).toBe(0);
  });
});
