import { startLoad } from "../load-client.ts";
import type { Load } from "../load-client.ts";
import type { LoadJob, LoadRequest, LoadResult } from "../load-protocol.ts";
import { importTable, postRequest } from "../rest.ts";
import type { Outcome, Scenario, Surroundings } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { startSystem } from "../system.ts";
import type { System } from "../system.ts";
import { createRandom, makeRows } from "../table-rows.ts";

type Stop = Extract<LoadJob, { model: "closed" }>["stop"];

const COMPANIES = 10;
const TABLES_EACH = 20;
/** Tables whose columns have room in memory. */
const TABLES_KEPT = 20;
/** The tables that a modest company asks about. */
const HOT_TABLES = 2;
const GREEDY_CONNECTIONS = 4;
/** The questions of one company in its sequence; more than its tables, so that tables come in no fixed turn. */
const QUESTIONS = 200;
/**
 * The memory of the question's columns for each row: a number, and a text of some 30 characters with its order and its
 * folded form.
 */
const BYTES_A_ROW = 130;
const MIB = 1024 * 1024;
const LONGER_MS = 500;
/** A number of requests, since a busy machine may answer none of them within a short time. */
const WARM_UP: Stop = { afterRequests: 200 };

const QUESTION = {
  filter: { amount: { condition: { operator: "greater_than", value: 500_000 } } },
  sort: "name",
  limit: 20,
};

/** A company, and the requests that ask about its tables, one each. */
interface Company {
  questions: readonly LoadRequest[];
}

export const tableCache: Scenario = {
  id: "ac",
  title: "More data tables than memory",
  method:
    `Filtered, sorted pages of ${COMPANIES * TABLES_EACH} tables, ${TABLES_EACH} of each of ${COMPANIES} companies, ` +
    `by a system that has memory for some ${TABLES_KEPT}: each company asks over one connection about any of its ` +
    `tables; then all but one ask about ${HOT_TABLES} of theirs, without and with the last one, which asks about all ` +
    `of its own over ${GREEDY_CONNECTIONS} connections.`,
  async measure(surroundings) {
    const { sizes, scope } = surroundings;
    const cacheMb = Math.max(
      1,
      Math.round((TABLES_KEPT * sizes.cachedTableRows * BYTES_A_ROW) / MIB),
    );
    const system = await startSystem(scope, {
      repository: surroundings.system.repository,
      settings: { TABLES_CACHE_MB: String(cacheMb) },
    });
    const companies = await fill(system, sizes.cachedTableRows);
    const ask = questionsOf(surroundings, companies);
    await ask.everybody(WARM_UP);
    const rounds: Round[] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const random = await ask.everybody({ afterMs: sizes.roundMs });
      // These companies' tables come into memory anew.
      await ask.modest(WARM_UP);
      const alone = await ask.modest({ afterMs: sizes.roundMs });
      const others = ask.greedy({ afterMs: sizes.roundMs + LONGER_MS });
      const beside = await ask.modest({ afterMs: sizes.roundMs });
      rounds.push({ random, alone, beside, greedy: await others });
    }
    return report(rounds);
  },
};

/** The answers of one round, by who asked. */
interface Round {
  random: LoadResult;
  alone: LoadResult;
  beside: LoadResult;
  greedy: LoadResult;
}

function report(rounds: readonly Round[]): Outcome {
  const alone = medianOf(rounds, (round) => round.alone.p50Ms);
  const figure = (name: string, value: number, atMost?: number) => ({
    name,
    value,
    unit: "ms" as const,
    ...(atMost === undefined ? {} : { target: { atMost } }),
  });
  return {
    figures: [
      figure(
        "any table, p50",
        medianOf(rounds, (round) => round.random.p50Ms),
      ),
      figure(
        "any table, p99",
        medianOf(rounds, (round) => round.random.p99Ms),
        400,
      ),
      figure("hot tables, p50", alone),
      figure(
        "hot tables beside the greedy, p50",
        medianOf(rounds, (round) => round.beside.p50Ms),
        2 * alone,
      ),
      figure(
        "hot tables beside the greedy, p99",
        medianOf(rounds, (round) => round.beside.p99Ms),
      ),
      {
        name: "the greedy's answers",
        value: medianOf(rounds, (round) => round.greedy.perSecond),
        unit: "/s",
      },
    ],
    rounds: rounds.map(({ random, alone: hot, beside, greedy }) => ({
      "any /s": random.perSecond,
      "any p50 ms": random.p50Ms,
      "any p99 ms": random.p99Ms,
      "hot p50 ms": hot.p50Ms,
      "beside p50 ms": beside.p50Ms,
      "beside p99 ms": beside.p99Ms,
      "greedy /s": greedy.perSecond,
      "greedy p50 ms": greedy.p50Ms,
    })),
  };
}

/** Makes the companies and their tables, two companies at a time. */
async function fill(system: System, rowCount: number): Promise<Company[]> {
  const rows = makeRows(rowCount);
  const accounts = [];
  for (let count = 0; count < COMPANIES; count += 1) {
    accounts.push({ ...system, apiKey: await system.addCompany(`tables-${count}`) });
  }
  const companies = accounts.map((account) => ({ account, questions: [] as LoadRequest[] }));
  const waiting = companies.values();
  const fillNext = async (): Promise<void> => {
    for (const { account, questions } of waiting) {
      for (let count = 0; count < TABLES_EACH; count += 1) {
        const id = await importTable(account, `Table ${count}`, rows);
        questions.push(postRequest(account, `/tables/${id}/rows/query`, QUESTION));
      }
    }
  };
  await Promise.all([fillNext(), fillNext()]);
  return companies;
}

function questionsOf({ load, scope }: Surroundings, companies: readonly Company[]) {
  const greedyLoad = startLoad(scope);
  const random = createRandom(11);
  const anyOf = (questions: readonly LoadRequest[]): LoadRequest => {
    const question = questions[Math.floor(random() * questions.length)];
    if (question === undefined) throw new Error("There is no table to ask about.");
    return question;
  };
  /** Connection i sends the questions at i, i + connections and so on. */
  const asking = (by: Load, asked: readonly (readonly LoadRequest[])[]) => (stop: Stop) => {
    const variety = Array.from({ length: QUESTIONS }, () => asked.map(anyOf)).flat();
    const [request] = variety;
    if (request === undefined) throw new Error("Nobody asks.");
    const connections = asked.length;
    return by({ model: "closed", request, variety, connections, stop });
  };
  const [greedy, ...modest] = companies.map(({ questions }) => questions);
  if (greedy === undefined) throw new Error("There are no companies.");
  return {
    everybody: asking(load, [greedy, ...modest]),
    modest: asking(
      load,
      modest.map((questions) => questions.slice(0, HOT_TABLES)),
    ),
    greedy: asking(
      greedyLoad,
      Array.from({ length: GREEDY_CONNECTIONS }, () => greedy),
    ),
  };
}
