import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid } from "@workflow/db";
import { freePort, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";
import { countDeliveries } from "./support/delivery-log.ts";
import { createDeliveryReceiver } from "./support/delivery-receiver.ts";
import type { DeliveryReceiver } from "./support/delivery-receiver.ts";
import { EVENTS } from "./support/length.ts";
import { spread, until2xx } from "./support/repeat.ts";

const TYPES = ["workflow.started", "workflow.completed"];
const RUNS = EVENTS / TYPES.length;
const PATHS = ["/one", "/two", "/three"];
/** Of the long form; the short one is slower, so that each fault finds something under way. */
const STARTS_PER_SECOND = EVENTS > 1_000 ? 50 : 8;
const LOAD_MS = (RUNS / STARTS_PER_SECOND) * 1_000;
const STARTS_AT_ONCE = 50;
const FAULT_EVERY_MS = EVENTS > 1_000 ? 2_000 : 750;
const AWAY_MS = 500;
/** So long after the last fault everything has arrived. */
const RECOVERY_MS = 60_000 + EVENTS * 10;
/**
 * Of the deliveries, in the long form. In the short one what is under way at each fault is most of them, so no
 * share of it says anything.
 */
const DUPLICATES_SHARE = 0.01;

const scope = createScope();
let system: SeparateSystem;
let receiver: DeliveryReceiver;
const secrets: Record<string, string> = {};

beforeAll(async () => {
  receiver = await createDeliveryReceiver(await freePort());
  scope.defer(() => receiver.close());
  // A receiver that is away for a moment is no reason to give a delivery up.
  const webhooks = { DELIVERY_RETRY_DELAYS_MS: "300,600,1000,2000,3000,5000,8000,8000" };
  system = await startSeparateSystem({ webhooks, killableNats: true });
  scope.defer(() => system.stop());
  for (const path of PATHS) secrets[path] = await makeEndpoint(path);
  await receiver.start(secrets);
});
afterAll(() => scope.close());

describe("kill -9 in turn of webhooks, the relay, NATS, Postgres and the receiver", () => {
  it(
    EVENTS > 1_000
      ? "loses no event, repeats few, and signs each under one id"
      : "loses no event, and signs each under one id",
    async () => {
      const workflowId = await activeWorkflow();
      const loading = new AbortController();
      const faults = breakInTurn(loading.signal);
      const operator = activateAgain(loading.signal);
      const runIds: string[] = [];
      await spread({ count: RUNS, width: STARTS_AT_ONCE, withinMs: LOAD_MS }, async () => {
        runIds.push(await startRun(workflowId));
      });
      loading.abort();
      const faultCount = await faults;
      await operator;
      const arrived = async () => countDeliveries(await receiver.received(), PATHS, runIds, TYPES);
      await waitFor(
        async () => {
          await activateAll();
          expect((await arrived()).missing).toBe(0);
        },
        { timeoutMs: RECOVERY_MS, intervalMs: 1_000, what: "every delivery" },
      );
      const { expected, missing, duplicates, invalid } = await arrived();
      if (EVENTS > 1_000) {
        process.stdout.write(
          `${expected} deliveries, ${faultCount} faults: ${missing} missing, ` +
            `${duplicates} duplicates, ${invalid} invalid\n`,
        );
      }
      expect(faultCount).toBeGreaterThanOrEqual(FAULTS.length);
      expect({ expected, missing, invalid }).toEqual({
        expected: EVENTS * PATHS.length,
        missing: 0,
        invalid: 0,
      });
      if (EVENTS > 1_000) expect(duplicates).toBeLessThanOrEqual(expected * DUPLICATES_SHARE);
    },
    LOAD_MS + RECOVERY_MS + 120_000,
  );
});

/** What breaks, and comes back. */
const FAULTS: readonly (() => Promise<void>)[] = [
  async () => {
    await system.kill("webhooks", "SIGKILL");
    await sleep(AWAY_MS);
    await system.startAndListen("webhooks");
  },
  async () => {
    await system.kill("runs-api", "SIGKILL");
    await sleep(AWAY_MS);
    await system.startAndListen("runs-api");
  },
  async () => {
    await system.killNats();
    await sleep(AWAY_MS);
    await system.startNats();
  },
  async () => {
    await system.stopPostgres("SIGKILL");
    await sleep(AWAY_MS);
    await system.startPostgres();
  },
  async () => {
    await receiver.kill();
    await sleep(AWAY_MS);
    await receiver.start(secrets);
  },
];

/** Breaks one thing after the other until the signal, each at least once; returns how many. */
async function breakInTurn(signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; count < FAULTS.length || !signal.aborted; count += 1) {
    await sleep(FAULT_EVERY_MS * (0.5 + Math.random() * 0.5));
    await FAULTS[count % FAULTS.length]?.();
  }
  return count;
}

/**
 * Does what an operator would: makes endpoints active again that were disabled while their receiver was away
 * (D47). What was held then goes out.
 */
async function activateAgain(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await activateAll();
    await sleep(1_000);
  }
}

const listed = z.object({ data: z.array(z.object({ id: z.string(), status: z.string() })) });

async function activateAll(): Promise<void> {
  const headers = { "x-api-key": system.apiKey };
  const response = await fetch(`${system.baseUrl}/webhook-endpoints`, { headers }).catch(
    () => null,
  );
  if (response?.status !== 200) return;
  for (const { id, status } of listed.parse(await response.json()).data) {
    if (status !== "disabled") continue;
    await system.call("PUT", `/webhook-endpoints/${id}`, { status: "active" }).catch(() => null);
  }
}

/** Makes an endpoint of the receiver; returns its secret. */
async function makeEndpoint(path: string): Promise<string> {
  const answer = await waitFor(
    async () => {
      const body = { name: path, url: receiver.origin + path, events: TYPES };
      const made = await system.call("POST", "/webhook-endpoints", body);
      expect(made).toMatchObject({ status: 201 });
      return made;
    },
    { what: "the webhooks service" },
  );
  return z.string().parse(answer.body.data["secret"]);
}

async function activeWorkflow(): Promise<string> {
  const mapping = { text: "Hello {{input.name}}" };
  const steps = [{ id: "hello", type: "transform", name: "hello", config: { mapping } }];
  const body = { name: "Delivered", trigger: { type: "api" }, steps };
  const workflowId = String((await system.call("POST", "/workflows", body)).body.data["id"]);
  await until2xx(() => system.call("POST", `/workflows/${workflowId}/activate`));
  return workflowId;
}

/** Starts one run, with one idempotency key until it is accepted. */
async function startRun(workflowId: string): Promise<string> {
  const body = { input: { name: "Ada" }, idempotencyKey: newUuid() };
  let runId = "";
  await until2xx(async () => {
    const answer = await system.call("POST", `/workflows/${workflowId}/run`, body);
    runId = String(answer.body.data["runId"]);
    return answer;
  });
  return runId;
}
