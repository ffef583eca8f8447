import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { newUuid } from "@workflow/db";
import { createNatsSignals } from "@workflow/events";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats } from "@workflow/testkit";
import { pino } from "pino";
import { processClock } from "../src/rate-limits/clock.ts";
import { readGatewayMessage } from "../src/rate-limits/messages.ts";
import type { Batch, Outcome, Question } from "../src/rate-limits/messages.ts";
import { PeerExchange } from "../src/rate-limits/peer-exchange.ts";

/* Gateways that speak with each other over a real NATS server; what they decide is up to each test. */

const PATIENCE_MS = 60_000;

let nats: LocalNats;
let scope: Scope;
/** Other tests on the same server have other subjects. */
const group = `tests-${newUuid()}`;
beforeAll(async () => {
  nats = await startLocalNats();
  scope = createScope();
});
afterEach(async () => {
  await scope.close();
  scope = createScope();
});
afterAll(() => nats.stop());

/** Listens as one gateway of the test. */
async function listen(address: string, receive: (batch: Batch) => void) {
  const signals = createNatsSignals({
    servers: nats.url,
    name: address,
    logger: pino({ level: "silent" }),
    group,
    address,
    onConnect: () => {},
    onMessage(text) {
      const message = readGatewayMessage(text);
      if (message.kind === "batch") receive(message);
    },
  });
  scope.defer(() => signals.close());
  await signals.connected(AbortSignal.timeout(PATIENCE_MS));
  return signals;
}

/** A gateway of this version. */
async function startExchange(
  self: string,
  decide: (question: Question) => Outcome | Promise<Outcome>,
): Promise<PeerExchange> {
  const signals = await listen(self, (batch) => exchange.receive(batch));
  const exchange = new PeerExchange({
    self,
    clock: processClock,
    send: (to, message) => signals.send(to, JSON.stringify(message)),
    decide,
    learn: () => {},
    note: () => {},
    view: () => 7,
  });
  return exchange;
}

function questionOf(company: string): Question {
  return { claims: [[`${company}|read`, 60]], isPassed: false, source: "asker", hops: 1 };
}

const letThrough = (count: number): Outcome => [-1, 0, count, 60_000];

/** A home whose deputy is silent for the windows of some companies. */
function createHome(...silent: string[]) {
  const { promise: found, resolve: goOn } = Promise.withResolvers<void>();
  const decide = ({ claims }: Question): Outcome | Promise<Outcome> => {
    const company = claims[0]?.[0].split("|")[0] ?? "";
    if (!silent.includes(company)) return letThrough(1);
    return found.then(() => letThrough(silent.indexOf(company) + 2));
  };
  return { decide, goOn };
}

describe("questions of one turn", () => {
  it("are answered apart: a company whose deputy is silent holds up no other one, and no confirmation", async () => {
    const home = createHome("b", "d");
    await startExchange("home-1", home.decide);
    const asker = await startExchange("asker-1", () => letThrough(0));
    const settled: string[] = [];
    const asked = ["a", "b", "c", "d"].map(async (company) => {
      const outcome = await asker.ask("home-1", questionOf(company), PATIENCE_MS);
      settled.push(company);
      return outcome;
    });
    expect(await asker.confirm("home-1", PATIENCE_MS)).toBe(7);
    expect(await Promise.all([asked[0], asked[2]])).toEqual([letThrough(1), letThrough(1)]);
    expect(settled).toEqual(["a", "c"]);
    home.goOn();
    expect(await Promise.all(asked)).toEqual([1, 2, 1, 3].map(letThrough));
  });

  it("are given up each after its own time, though others of the same message have longer", async () => {
    const home = createHome("a", "b", "c");
    await startExchange("home-5", home.decide);
    const asker = await startExchange("asker-5", () => letThrough(0));
    const settled: string[] = [];
    const ask = async (company: string, waitMs: number): Promise<Outcome | null> => {
      const outcome = await asker.ask("home-5", questionOf(company), waitMs);
      settled.push(company);
      return outcome;
    };
    const patient = ask("a", PATIENCE_MS);
    const impatient = [ask("b", 20), ask("c", 10)];
    expect(await Promise.all(impatient)).toEqual([null, null]);
    expect(settled).toEqual(["c", "b"]);
    home.goOn();
    expect(await patient).toEqual(letThrough(2));
  });

  it("are given up one by one when the gateway that is asked is gone", async () => {
    const home = createHome("b");
    await startExchange("home-2", home.decide);
    const asker = await startExchange("asker-2", () => letThrough(0));
    const asked = ["a", "b"].map((company) =>
      asker.ask("home-2", questionOf(company), PATIENCE_MS),
    );
    expect(await asked[0]).toEqual(letThrough(1));
    asker.giveUp("home-2");
    expect(await asked[1]).toBeNull();
    home.goOn();
  });

  it("are answered together to a gateway of the version before, which takes no parts", async () => {
    const home = createHome("b");
    await startExchange("home-3", home.decide);
    const received: Batch["answered"][number][] = [];
    const former = await listen("asker-3", ({ answered }) => received.push(...answered));
    const ask = (id: number, ...companies: string[]): void => {
      const asked = { id, questions: companies.map(questionOf) };
      const batch = { kind: "batch", from: "asker-3", told: [], passed: [], asked, answered: [] };
      former.send("home-3", JSON.stringify(batch));
    };
    ask(1, "a", "b");
    // The answer to what is asked later comes first.
    ask(2, "c");
    await waitFor(() => received.length > 0, { what: "an answer" });
    expect(received).toEqual([{ id: 2, outcomes: [letThrough(1)] }]);
    home.goOn();
    await waitFor(() => received.length > 1, { what: "both answers" });
    expect(received[1]).toEqual({ id: 1, outcomes: [letThrough(1), letThrough(2)] });
  });

  it("are settled by one answer of a gateway of the version before", async () => {
    const former = await listen("home-4", ({ from, asked }) => {
      const answered = [{ id: asked?.id, outcomes: [letThrough(1), letThrough(2)] }];
      const batch = { kind: "batch", from: "home-4", told: [], passed: [], asked: null, answered };
      former.send(from, JSON.stringify(batch));
    });
    const asker = await startExchange("asker-4", () => letThrough(0));
    const asked = ["a", "b", "c"].map((company) =>
      asker.ask("home-4", questionOf(company), PATIENCE_MS),
    );
    // What it leaves out is not answered.
    expect(await Promise.all(asked)).toEqual([letThrough(1), letThrough(2), null]);
  });
});
