import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import type { Answer, CallOptions } from "../support/api-client.ts";
import { addMember, memberSchema, removeMember } from "../support/memberships.ts";
import { bySession, signIn } from "../support/people.ts";
import { makeReceived, receivedBy } from "../support/received-webhooks.ts";
import { createActive, delay, startRun, transform, waitForRun } from "../support/scenarios.ts";
import { makeTable } from "../support/tables.ts";
import { startReplicatedSystem } from "../support/whole-system.ts";
import type { ReplicatedSystem } from "../support/whole-system.ts";

/*
 * Two of everything at once, each a process of its own behind one port, on real NATS: what one does holds for
 * the other, and when one is killed nothing is lost and nothing is done twice that must not be.
 */

const TIMEOUT_MS = 300_000;
const PATIENCE_MS = 120_000;
const SCHEDULES = 40;
const WAVES = 3;
const RUNS = 60;

let system: ReplicatedSystem;
let receiver: HttpDouble;
beforeAll(async () => {
  receiver = await startHttpDouble(() => ({ status: 200 }));
  system = await startReplicatedSystem({ leaseMs: 2_000 });
}, TIMEOUT_MS);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
}, TIMEOUT_MS);

/** Kills a process; resolves when it is gone. It is started again by itself. */
async function kill(name: string): Promise<void> {
  const victim = system.apart.parts.named(name);
  const pid = victim.pid();
  victim.kill("SIGKILL");
  await waitFor(() => victim.pid() !== pid, { what: `${name} to be gone` });
}

/** One request through one of the gateways. */
function through(gateway: 1 | 2, method: string, path: string, options: CallOptions = {}) {
  const origin = system.apart.originOf(`gateway-${gateway}`);
  const { key } = system.acme;
  return callApi(`${origin}/api/v1${path}`, method, { key, ...options });
}

const untilReady = () => system.apart.parts.untilReady(PATIENCE_MS);

describe("schedules", () => {
  const counted = z.object({ runs: z.number(), distinct: z.number() });

  async function countOf(workflowIds: readonly string[]) {
    return system.database.one(sql.type(counted)`
      select count(*)::integer as runs, count(distinct workflow_id)::integer as distinct
      from runs.runs where workflow_id = any(${sql.array(workflowIds, "uuid")})
    `);
  }

  it(
    "fire once each time, also when one of two workers is killed while they fire",
    async () => {
      const trigger = { type: "schedule", cron: "0 0 1 1 *" };
      const workflowIds: string[] = [];
      for (let index = 0; index < SCHEDULES; index += 1) {
        workflowIds.push(await createActive(system, { trigger, name: `Yearly ${index}` }));
      }
      for (let wave = 1; wave <= WAVES; wave += 1) {
        await system.database.query(sql.type(z.object({}))`
          update runs.schedules set next_run_at = now()
          where workflow_id = any(${sql.array(workflowIds, "uuid")})
        `);
        // In the first wave both live, in the others one dies in the midst, each in its turn.
        if (wave > 1) await kill(`runs-worker-${wave - 1}`);
        await waitFor(async () => (await countOf(workflowIds)).runs >= wave * SCHEDULES, {
          timeoutMs: PATIENCE_MS,
          what: `wave ${wave}`,
        });
      }
      await untilReady();
      const unended = sql.type(z.object({ left: z.number() }))`
        select count(*)::integer as left from runs.runs
        where workflow_id = any(${sql.array(workflowIds, "uuid")}) and status <> 'completed'
      `;
      await waitFor(async () => (await system.database.one(unended)).left === 0, {
        timeoutMs: PATIENCE_MS,
        what: "all of them to be executed",
      });
      expect(await countOf(workflowIds)).toEqual({
        runs: WAVES * SCHEDULES,
        distinct: SCHEDULES,
      });
      const fired = await system.database.any(sql.type(z.object({ count: z.number() }))`
        select count(*)::integer as count from runs.runs
        where workflow_id = any(${sql.array(workflowIds, "uuid")}) group by workflow_id
      `);
      expect(new Set(fired.map(({ count }) => count))).toEqual(new Set([WAVES]));
    },
    TIMEOUT_MS,
  );
});

describe("deliveries", () => {
  it(
    "miss nothing when the webhooks processes are killed one after the other",
    async () => {
      const workflowId = await createActive(system, { name: "Told" });
      const endpoint = await makeReceived(system, receiver, {
        workflowIds: [workflowId],
        events: ["workflow.completed"],
      });
      const runIds = new Set<string>();
      for (let index = 0; index < RUNS; index += 1) {
        runIds.add(await startRun(system, workflowId, { name: String(index) }));
        if (index === RUNS / 3) await kill("webhooks-1");
        if (index === (2 * RUNS) / 3) await kill("webhooks-2");
      }
      const toldOf = (): Set<string> => {
        const bodies = receivedBy(receiver, endpoint).map(({ body }) => body);
        return new Set([...runIds].filter((id) => bodies.some((body) => body.includes(id))));
      };
      await waitFor(() => toldOf().size === RUNS, {
        timeoutMs: PATIENCE_MS,
        what: "all ends to be told",
      });
      await untilReady();
      // At least once: what comes again has the id of its first time.
      const ids = receivedBy(receiver, endpoint).map(({ headers }) => headers["webhook-id"]);
      expect(new Set(ids).size).toBe(RUNS);
    },
    TIMEOUT_MS,
  );
});

describe("what one gateway was told", () => {
  it("about a key holds at the other: it is taken at once, and refused once it is revoked", async () => {
    const body = { name: "Short-lived", scopes: ["workflows:read"] };
    const made = z
      .object({ id: z.string(), key: z.string() })
      .parse((await through(1, "POST", "/auth/api-keys", { body })).data);
    const { key } = made;
    expect(await through(2, "GET", "/workflows", { key })).toMatchObject({ status: 200 });
    expect(await through(1, "DELETE", `/auth/api-keys/${made.id}`)).toMatchObject({ status: 200 });
    expect(await through(1, "GET", "/workflows", { key })).toMatchObject({ status: 401 });
    await waitFor(async () => (await through(2, "GET", "/workflows", { key })).status === 401, {
      what: "the key to be refused by the other gateway",
    });
  });

  it("about a person holds at the other: signed in, signed out, removed", async () => {
    const first = { origin: system.apart.originOf("gateway-1") };
    const second = { origin: system.apart.originOf("gateway-2") };
    const person = await system.createPerson(system.acme, "member");
    const token = await signIn(first, person);
    const ask = (place: { origin: string }, of: string): Promise<Answer> =>
      callApi(`${place.origin}/api/v1/workflows`, "GET", bySession(place, of));
    expect(await ask(second, token)).toMatchObject({ status: 200 });
    const session = `${first.origin}/api/v1/auth/session`;
    expect(await callApi(session, "DELETE", bySession(first, token))).toMatchObject({
      status: 200,
    });
    await waitFor(async () => (await ask(second, token)).status === 401, {
      what: "the session to be over at the other gateway",
    });

    const again = await signIn(second, person);
    expect(await ask(first, again)).toMatchObject({ status: 200 });
    expect(await removeMember(system, system.acme, person.id)).toMatchObject({ status: 200 });
    for (const place of [first, second]) {
      await waitFor(async () => (await ask(place, again)).status === 401, {
        what: "the membership to be over everywhere",
      });
    }
  });

  it("about a role holds at the other", async () => {
    const added = await addMember(system, system.acme, {
      email: `${crypto.randomUUID()}@roles.example`,
      role: "viewer",
    });
    const { userId, email } = memberSchema.parse(added.data);
    const second = { origin: system.apart.originOf("gateway-2") };
    const token = await signIn(second, { email, password: "handed over by a company" });
    const create = (): Promise<Answer> =>
      callApi(`${second.origin}/api/v1/workflows`, "POST", {
        ...bySession(second, token),
        body: { name: "Mine", trigger: { type: "api" }, steps: [transform("a", "b")] },
      });
    expect(await create()).toMatchObject({ status: 403 });
    const body = { role: "member" };
    expect(await through(1, "PATCH", `/members/${userId}`, { body })).toMatchObject({
      status: 200,
    });
    await waitFor(async () => (await create()).status === 201, {
      what: "the new role to hold at the other gateway",
    });
  });
});

describe("a run that is started at one gateway", () => {
  const steps = [delay("pause", 1_500), transform("done", "{{input.name}}")];

  async function events(gateway: 1 | 2, runId: string): Promise<string> {
    const origin = system.apart.originOf(`gateway-${gateway}`);
    const response = await fetch(`${origin}/api/v1/runs/${runId}/events`, {
      headers: { "x-api-key": system.acme.key },
    });
    return response.text();
  }

  it("is watched to its end at the other, and at the port in front of both", async () => {
    const workflowId = await createActive(system, { steps });
    const started = await through(1, "POST", `/workflows/${workflowId}/run`, {
      body: { input: { name: "Ada" } },
    });
    const { run_id: runId } = z.looseObject({ run_id: z.string() }).parse(started.data);
    const [there, here, inFront] = await Promise.all([
      events(2, runId),
      events(1, runId),
      fetch(`${system.origin}/api/v1/runs/${runId}/events`, {
        headers: { "x-api-key": system.acme.key },
      }).then((response) => response.text()),
    ]);
    for (const text of [there, here, inFront]) expect(text).toContain('"completed"');
  });

  it("is waited for there while either worker executes it", async () => {
    const workflowId = await createActive(system, { steps });
    for (const worker of ["runs-worker-1", "runs-worker-2"]) {
      await kill(worker);
      const body = { mode: "sync", input: { name: worker } };
      const answer = await through(2, "POST", `/workflows/${workflowId}/run`, { body });
      expect(answer).toMatchObject({ status: 200, data: { status: "completed", output: worker } });
    }
    await untilReady();
  });

  it("goes on when its worker is killed, and is executed by the other", async () => {
    const workflowId = await createActive(system, {
      steps: [delay("pause", 4_000), transform("done", "{{input.name}}")],
    });
    const runIds = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        startRun(system, workflowId, { name: String(index) }),
      ),
    );
    await kill("runs-worker-2");
    for (const id of runIds) {
      expect(await waitForRun(system, id)).toMatchObject({ status: "completed" });
    }
    await untilReady();
  });
});

describe("the port in front of the gateways", () => {
  it("answers every request while one gateway after the other is killed and comes again", async () => {
    const statuses: number[] = [];
    for (const gateway of ["gateway-1", "gateway-2"]) {
      await untilReady();
      await kill(gateway);
      for (let index = 0; index < 40; index += 1) {
        statuses.push((await system.call("GET", "/workflows")).status);
      }
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    await untilReady();
  }, 240_000);

  it("shows the same rows whichever of two tables processes is asked, and when one is gone", async () => {
    const columns = [{ name: "n", type: "number" }];
    const { id } = await makeTable(system, system.acme.key, { columns });
    for (let index = 0; index < 10; index += 1) {
      const body = { data: { n: index } };
      expect(
        await through(index % 2 === 0 ? 1 : 2, "POST", `/tables/${id}/rows`, { body }),
      ).toMatchObject({ status: 201 });
    }
    await kill("tables-1");
    for (const gateway of [1, 2] as const) {
      const answer = await waitFor(async () => {
        const asked = await through(gateway, "GET", `/tables/${id}/rows`);
        return asked.status === 200 ? asked : null;
      });
      expect(answer.rowsMeta).toMatchObject({ total: 10 });
    }
    await untilReady();
  });

  it("starts a run by an inbound webhook while one of two webhooks processes is gone", async () => {
    const path = `orders-${crypto.randomUUID()}`;
    const workflowId = await createActive(system, {
      trigger: { type: "webhook", path },
    });
    await kill("webhooks-1");
    const response = await fetch(`${system.origin}/webhooks/custom/${system.acme.id}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(200);
    await waitFor(async () => {
      const { data } = await system.call("GET", `/workflows/${workflowId}/runs`);
      return z.array(z.unknown()).parse(data).length === 1;
    });
    await untilReady();
  });
});
