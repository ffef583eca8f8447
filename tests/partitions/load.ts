import { setTimeout as delay } from "node:timers/promises";
import { newUuid, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { Answers } from "./answers.ts";
import type { Asked } from "./answers.ts";
import type { ApartSystem } from "./system.ts";

/** What callers were told, for the judgement at the end. */
export interface Ledger {
  /** Runs by the key of their start. */
  started: Map<string, string>;
  /** Keys of events that a sender was told are received. */
  received: Set<string>;
  /** Names of rows that were confirmed, and of those that perhaps are there. */
  rows: { confirmed: string[]; uncertain: string[] };
  /** How often the schedules became due. */
  waves: number;
}

/** Workflows and so on that the load uses. */
export interface Scene {
  /** Calls the receiver with a secret, and writes a row. */
  caller: string;
  /** Answers at once. */
  plain: string;
  /** Started by inbound events. */
  taker: string;
  /** Changed again and again, each through one gateway. */
  changed: ReadonlyMap<string, string>;
  scheduled: readonly string[];
  table: string;
}

export interface Load {
  answers: Answers;
  ledger: Ledger;
  scene: Scene;
  /** Resolves when each gateway has accepted something of each kind since now. */
  untilAllAccepted(timeoutMs: number): Promise<void>;
  /** Stops asking, once what was begun is accepted. */
  stop(): Promise<void>;
}

const GATEWAYS = ["gateway-1", "gateway-2"];
const PAUSE_MS = 400;
const WAVE_MS = 4_000;
const SCHEDULES = 5;
const SYNC_MS = 5_000;
/** In an hour, there are more rows than a table takes by default. */
const ROWS_MAX = 100_000;
export const DELIVERED = "/delivered";

/** Makes what the load needs, and lets it begin. */
export async function startLoad(system: ApartSystem): Promise<Load> {
  const scene = await makeScene(system);
  const answers = new Answers();
  const ledger: Ledger = {
    started: new Map(),
    received: new Set(),
    rows: { confirmed: [], uncertain: [] },
    waves: 0,
  };
  const stopping = new AbortController();
  const accepted = new Map<string, number>();
  const kinds = kindsOf(system, { answers, ledger, scene });
  const lanes = GATEWAYS.flatMap((gateway) =>
    Object.entries(kinds).map(async ([kind, once]) => {
      while (!stopping.signal.aborted) {
        if (await once(gateway)) {
          accepted.set(`${gateway} ${kind}`, performance.now());
        }
        await pause(PAUSE_MS, stopping.signal);
      }
    }),
  );
  const firing = fireSchedules(system, scene, ledger, stopping.signal);
  const lanesCount = GATEWAYS.length * Object.keys(kinds).length;
  return {
    answers,
    ledger,
    scene,
    async untilAllAccepted(timeoutMs) {
      const since = performance.now();
      const late = () =>
        GATEWAYS.flatMap((gateway) =>
          Object.keys(kinds).map((kind) => `${gateway} ${kind}`),
        ).filter((lane) => (accepted.get(lane) ?? 0) < since);
      await waitFor(
        () => {
          const missing = late();
          if (missing.length > 0) {
            throw new Error(`${missing.length} of ${lanesCount} lanes: ${missing.join(", ")}`);
          }
        },
        { timeoutMs, intervalMs: 100, what: "each gateway to accept each kind of request" },
      );
    },
    async stop() {
      stopping.abort();
      await Promise.all([...lanes, firing]);
    },
  };
}

type Once = (gateway: string) => Promise<boolean>;

/** Each kind of request: what is sent once, and noted when it was accepted. */
function kindsOf(
  system: ApartSystem,
  { answers, ledger, scene }: Pick<Load, "answers" | "ledger" | "scene">,
): Readonly<Record<string, Once>> {
  // A start or an event that was refused is sent again under its key, as callers should.
  const open = new Map<string, string>();
  const keyOf = (lane: string): string => {
    const key = open.get(lane) ?? newUuid();
    open.set(lane, key);
    return key;
  };
  const api = (kind: string, gateway: string, path: string, body?: unknown): Promise<Asked> =>
    answers.ask(kind, `${system.originOf(gateway)}/api/v1${path}`, request(system, "POST", body));
  const start = async (kind: string, gateway: string, workflow: string, more: object) => {
    const lane = `${gateway} ${kind}`;
    const idempotencyKey = keyOf(lane);
    const body = { input: { n: 1 }, idempotencyKey, ...more };
    const asked = await api(kind, gateway, `/workflows/${workflow}/run`, body);
    if (!asked.isAccepted) return false;
    ledger.started.set(idempotencyKey, String(asked.data["run_id"]));
    return open.delete(lane);
  };
  return {
    start: (gateway) => start("start", gateway, scene.caller, {}),
    sync: (gateway) =>
      start("sync", gateway, scene.plain, { mode: "sync", maxExecutionTimeMs: SYNC_MS }),
    row: async (gateway) => {
      const name = newUuid();
      const path = `/tables/${scene.table}/rows`;
      const { isAccepted } = await api("row", gateway, path, { data: { name } });
      ledger.rows[isAccepted ? "confirmed" : "uncertain"].push(name);
      return isAccepted;
    },
    inbound: async (gateway) => {
      const lane = `${gateway} inbound`;
      const key = keyOf(lane);
      const url = `${system.originOf(gateway)}/webhooks/custom/${system.companyId}/orders`;
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const body = JSON.stringify({ key });
      const { isAccepted } = await answers.ask("inbound", url, { method: "POST", headers, body });
      if (!isAccepted) return false;
      ledger.received.add(key);
      return open.delete(lane);
    },
    change: async (gateway) => {
      const url = `${system.originOf(gateway)}/api/v1/workflows/${scene.changed.get(gateway)}`;
      const body = { name: `Changed at ${new Date().toISOString()}` };
      return (await answers.ask("change", url, request(system, "PUT", body))).isAccepted;
    },
    endpoints: async (gateway) => {
      const url = `${system.originOf(gateway)}/api/v1/webhook-endpoints`;
      return (await answers.ask("endpoints", url, request(system, "GET"))).isAccepted;
    },
    connections: async (gateway) => {
      const url = `${system.originOf(gateway)}/api/v1/connections`;
      return (await answers.ask("connections", url, request(system, "GET"))).isAccepted;
    },
  };
}

/** Makes all schedules due again and again, over a link of the test's own. */
async function fireSchedules(
  { database }: ApartSystem,
  { scheduled }: Scene,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  const counted = z.object({ count: z.number() });
  while (!signal.aborted) {
    // Only once all have fired: one that is due twice at a time fires once.
    const fired = await database.oneFirst(sql.type(counted)`
      select count(*)::integer as count from runs.runs
      where workflow_id = any(${sql.array([...scheduled], "uuid")})
    `);
    if (fired >= ledger.waves * scheduled.length) {
      ledger.waves += 1;
      await database.query(sql.type(z.object({}))`
        update runs.schedules set next_run_at = now()
        where workflow_id = any(${sql.array([...scheduled], "uuid")})
      `);
    }
    await pause(WAVE_MS, signal);
  }
}

async function makeScene(system: ApartSystem): Promise<Scene> {
  const { receiver } = system;
  const create = async (name: string, trigger: object, steps: readonly object[]) => {
    const { data } = await make(system, "/workflows", { name, trigger, steps });
    return String(data["id"]);
  };
  const activate = (id: string) => make(system, `/workflows/${id}/activate`);
  const table = String(
    (await make(system, "/tables", { name: "Rows", maxRows: ROWS_MAX })).data["id"],
  );
  const api = { type: "api" };
  const take = step("take", "transform", { mapping: "{{input}}" });
  const caller = await create("Caller", api, callingSteps(receiver.url, table));
  const secret = { key: "TOKEN", value: "a secret of the load" };
  await make(system, `/workflows/${caller}/secrets`, secret);
  const plain = await create("Plain", api, [take]);
  const taker = await create("Taker", { type: "webhook", path: "orders" }, [take]);
  const changed = new Map<string, string>();
  for (const gateway of GATEWAYS) changed.set(gateway, await create("Changed", api, [take]));
  const scheduled: string[] = [];
  for (let index = 0; index < SCHEDULES; index += 1) {
    scheduled.push(
      await create(`Yearly ${index}`, { type: "schedule", cron: "0 0 1 1 *" }, [take]),
    );
  }
  for (const id of [caller, plain, taker, ...changed.values(), ...scheduled]) await activate(id);
  await make(system, "/webhook-endpoints", {
    name: "Delivered",
    url: receiver.url + DELIVERED,
    events: ["workflow.completed"],
    workflowIds: [caller],
  });
  return { caller, plain, taker, changed, scheduled, table };
}

function callingSteps(url: string, tableId: string): object[] {
  const retry = { maxAttempts: 10, backoff: "fixed", delayMs: 1_000 };
  return [
    {
      ...step("call", "action", {
        method: "POST",
        url: `${url}/effect`,
        headers: { "x-token": "{{secrets.TOKEN}}" },
        body: { n: "{{input.n}}" },
      }),
      action: "http.request",
      retry,
    },
    {
      ...step("write", "action", { tableId, data: { name: "{{run.id}}" } }),
      action: "table.insert",
      retry,
    },
  ];
}

function step(id: string, type: string, config: object) {
  return { id, type, name: id, config };
}

/** Makes something before anything happens. Throws when it is refused. */
async function make(system: ApartSystem, path: string, body?: unknown): Promise<Asked> {
  const answers = new Answers();
  const url = `${system.originOf("gateway-1")}/api/v1${path}`;
  const asked = await answers.ask(path, url, request(system, "POST", body));
  if (!asked.isAccepted) throw new Error(answers.faults.join() || JSON.stringify(asked));
  return asked;
}

function request({ apiKey }: ApartSystem, method: string, body?: unknown): RequestInit {
  return {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
