import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { migrate, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { generateSigningKey } from "@workflow/rpc";
import { insertPreparedCompany } from "@workflow/service-gateway/admin";
import { freePort, startLocalNats, waitFor } from "@workflow/testkit";
import { connect } from "nats";
import pino from "pino";
import { z } from "zod";
import type { Claimed } from "../services/gateway/src/rate-limits/messages.ts";
import type { SharedWindows } from "../services/gateway/src/rate-limits/shared-windows.ts";
import { startSharedWindows } from "../services/gateway/src/rate-limits/start-shared-windows.ts";

/*
 * The cost of a decision about a rate limit, by the place of the decision, beside a row in Postgres and a value in
 * NATS KV. Then the cost of a request to a gateway without limits, and to one of two gateways that share limits, in
 * turn. Run this with `node --expose-gc bench/rate-limits.ts`; it takes half a minute.
 */

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 2_000;
const WARM_UP = 300;
const MAX = 1_000_000;
const WINDOW_MS = 60_000;
const COMPANIES = 8;
/** A newcomer hears within this time what the other gateways know. */
const JOIN_MS = 3_000;
const nothing = z.object({});

await (process.argv[2] === "peer" ? runPeer(process.argv[3]) : runAll());

async function runPeer(natsUrl = ""): Promise<void> {
  await startWindows(natsUrl, createScope());
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on("message", () => process.send?.(delay.max / 1e6));
  process.send?.("ready");
}

function startWindows(natsUrl: string | undefined, scope: Scope): Promise<SharedWindows> {
  const logger = pino({ level: "silent" });
  return startSharedWindows({ natsUrl, installation: "bench", windowMs: WINDOW_MS, logger }, scope);
}

async function runAll(): Promise<void> {
  const scope = createScope();
  await scope.guard(async () => {
    await measureAlone(scope);
    const nats = await startLocalNats();
    scope.defer(() => nats.stop());
    const dataDir = await mkdtemp(join(tmpdir(), "bench-rate-limits-"));
    scope.defer(() => rm(dataDir, { recursive: true, force: true }));
    const postgres = await startLocalPostgres({ dataDir, durable: true });
    scope.defer(() => postgres.stop());
    await measureJoin(nats.url);
    await measureShared(nats.url, scope);
    await measureKeyValue(nats.url);
    const directory = join(REPOSITORY, "services/gateway/migrations");
    const gateway = { schema: "gateway", role: "workflow_gateway", directory };
    await migrate({ connectionUri: postgres.connectionUri, services: [gateway] });
    const database = await openDatabase({
      connectionUri: postgres.connectionUri,
      applicationName: "bench",
    });
    scope.defer(() => database.end());
    await measureRows(database);
    await measureRequests(database, postgres.connectionUri, nats.url, scope);
  });
  await scope.close();
}

/** One gateway: the time of a decision, and the memory of many windows. */
async function measureAlone(scope: Scope): Promise<void> {
  const windows = await startWindows(undefined, scope);
  const key = claimOf(newUuid());
  for (const [name, claims] of [
    ["accepted, this gateway", key],
    ["refused, this gateway", key.map(([text]): Claimed => [text, 1])],
  ] as const) {
    const count = 200_000;
    const start = performance.now();
    for (let turn = 0; turn < count; turn += 1) await windows.claim(claims);
    const us = ((performance.now() - start) * 1_000) / count;
    console.log(`${name}: ${us.toFixed(2)} µs each`);
  }
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  for (let caller = 0; caller < 100_000; caller += 1) await windows.claim(claimOf(newUuid()));
  globalThis.gc?.();
  const mib = (process.memoryUsage().rss - before) / 1024 / 1024;
  console.log(`200,000 windows, those of 100,000 keys of as many companies: ${mib.toFixed(0)} MiB`);
}

/** Two gateways, the second one in a process of its own. */
async function measureShared(natsUrl: string, scope: Scope): Promise<void> {
  const windows = await startWindows(natsUrl, scope);
  const peer = fork(fileURLToPath(import.meta.url), ["peer", natsUrl]);
  scope.defer(() => void peer.kill("SIGKILL"));
  await once(peer, "message");
  const keys = Array.from({ length: 100 }, () => claimOf(newUuid()));
  await waitFor(() => keys.some((claims) => windows.claim(claims) instanceof Promise));
  const remote = keys.filter((claims) => windows.claim(claims) instanceof Promise);
  const local = keys.filter((claims) => !remote.includes(claims));
  await measure("home here, the deputy told", async (turn) => {
    await windows.claim(local[turn % local.length] ?? []);
  });
  await measure("home elsewhere, one question at a time", async (turn) => {
    await windows.claim(remote[turn % remote.length] ?? []);
  });
  await measure("home elsewhere, 50 questions at a time, for all", async (turn) => {
    const asked = Array.from({ length: 50 }, (_, index) => remote[(turn + index) % remote.length]);
    await Promise.all(asked.map(async (claims) => windows.claim(claims ?? [])));
  });
}

/** The longest stop of event loops when a gateway joins another one with many busy companies. */
async function measureJoin(natsUrl: string): Promise<void> {
  const scope = createScope();
  const windows = await startWindows(natsUrl, scope);
  const ages: number[] = [];
  for (let age = 59_000; age > 0; age -= 10) ages.push(age, 2);
  for (const claims of Array.from({ length: 250 }, () => claimOf(newUuid()))) {
    for (const [key] of claims) windows.learn([key, "elsewhere", ages]);
  }
  globalThis.gc?.();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const peer = fork(fileURLToPath(import.meta.url), ["peer", natsUrl]);
  scope.defer(() => void peer.kill("SIGKILL"));
  delay.enable();
  await once(peer, "message");
  await pause(JOIN_MS);
  const reported = once(peer, "message");
  peer.send("report");
  const [ms] = z.tuple([z.number(), z.unknown()]).parse(await reported);
  const own = (delay.max / 1e6).toFixed(0);
  console.log(`a gateway joins 250 companies: ${own} ms at once there, ${ms.toFixed(0)} ms here`);
  await scope.close();
}

/** A window as one value, which is written back unless somebody else changed it meanwhile. */
async function measureKeyValue(natsUrl: string): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  const store = await connection.jetstream().views.kv("bench");
  await store.put("window", "0");
  const value = "12345678".repeat(500);
  let conflicts = 0;
  const take = async (): Promise<void> => {
    for (;;) {
      const entry = await store.get("window");
      try {
        await store.update("window", value, entry?.revision ?? 0);
        return;
      } catch {
        conflicts += 1;
      }
    }
  };
  await measure("NATS KV, one at a time", take);
  conflicts = 0;
  await measure(
    "NATS KV, 8 on one key, for all",
    async () => {
      await Promise.all(Array.from({ length: 8 }, take));
    },
    100,
  );
  console.log(`  ${conflicts} conflicts in ${100 * 8} decisions`);
  await connection.close();
}

/** A window as sixty rows, one for each second, of a table without a log. */
async function measureRows(database: Database): Promise<void> {
  await database.query(sql.type(nothing)`
    create unlogged table public.slots (
      key text, slot integer, number integer not null, primary key (key, slot)
    ) with (fillfactor = 50)
  `);
  const take = async (turn: number): Promise<void> => {
    await database.any(sql.prepared("take_slot", z.object({ number: z.number() }))`
      insert into public.slots (key, slot, number) values ('key', ${turn % 60}, 1)
      on conflict (key, slot) do update set number = slots.number + 1
      where (select sum(other.number) from public.slots other where other.key = 'key') < ${MAX}
      returning number
    `);
  };
  await measure("Postgres, one at a time", take);
  await measure(
    "Postgres, 8 on one key, for all",
    async (turn) => {
      await Promise.all(Array.from({ length: 8 }, () => take(turn)));
    },
    200,
  );
}

/**
 * The same request to a gateway without limits, and to one of two gateways that share limits, in turn.
 */
async function measureRequests(
  database: Database,
  databaseUrl: string,
  natsUrl: string,
  scope: Scope,
): Promise<void> {
  const env = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl };
  const without = await startGateway({ ...env, RATE_LIMIT_READ: "0" }, scope);
  const limited = { ...env, RATE_LIMIT_READ: String(MAX) };
  const withLimits = await startGateway(limited, scope);
  await startGateway(limited, scope);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const added: number[] = [];
  for (let company = 0; company < COMPANIES; company += 1) {
    const email = `${newUuid()}@bench.example`;
    const prepared = { name: "Bench", email, passwordHash: "-" };
    const { apiKey } = await database.transaction((t) => insertPreparedCompany(t, prepared));
    const times: [number[], number[]] = [[], []];
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      const which = (turn + Math.floor(turn / 2)) % 2 === 0 ? 0 : 1;
      const ms = await timeRequest(which === 0 ? without : withLimits, apiKey, agent);
      if (turn >= WARM_UP) times[which].push(ms);
    }
    const [off, on] = times.map((each) => quantile(each, 0.5));
    added.push((on ?? 0) - (off ?? 0));
    console.log(`company ${company}: p50 ${off?.toFixed(3)} ms without, ${on?.toFixed(3)} ms with`);
  }
  console.log(`added at p50: ${added.map((ms) => ms.toFixed(3)).join(", ")} ms`);
  console.log(`median of all: ${quantile(added, 0.5).toFixed(3)} ms`);
  agent.destroy();
}

async function startGateway(env: Record<string, string>, scope: Scope): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(REPOSITORY, "services/gateway/src/main.ts")], {
    env: {
      ...env,
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "info",
      INTERNAL_TOKEN_PRIVATE_KEY: generateSigningKey().privateKeyPem,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  scope.defer(() => void child.kill("SIGKILL"));
  const origin = `http://127.0.0.1:${port}`;
  const answers = async () => (await fetch(`${origin}/livez`).catch(() => null))?.ok === true;
  await waitFor(answers, { timeoutMs: 60_000, what: "a gateway" });
  return origin;
}

async function timeRequest(origin: string, key: string, agent: Agent): Promise<number> {
  const start = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(`${origin}/api/v1/blocks/http`, { agent, headers: { "x-api-key": key } }, (response) => {
    response.resume();
    response.once("end", resolve);
  })
    .once("error", reject)
    .end();
  await promise;
  return performance.now() - start;
}

function claimOf(company: string): Claimed[] {
  return [
    [`${company}|read|${newUuid()}`, MAX],
    [`${company}|read`, MAX],
  ];
}

async function measure(
  name: string,
  take: (turn: number) => Promise<void>,
  rounds = ROUNDS,
): Promise<void> {
  const times: number[] = [];
  for (let turn = 0; turn < rounds + WARM_UP; turn += 1) {
    // This turn of the event loop stands for the time between requests.
    await new Promise((resolve) => setImmediate(resolve));
    const start = performance.now();
    await take(turn);
    if (turn >= WARM_UP) times.push(performance.now() - start);
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  console.log(`${name}: p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`);
}

function quantile(times: readonly number[], q: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? Number.NaN;
}
