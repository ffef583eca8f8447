import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { GatewayName, ProcessName, SeparateSystem } from "../support/separate-system.ts";
import { CHANGES, prepareChanges, untilRevision } from "./support/changes.ts";
import { LONG, ROUNDS } from "./support/length.ts";
import {
  answering,
  createActive,
  createDraft,
  expectAgreement,
  readPlanes,
  runWhenPossible,
} from "./support/planes.ts";

const scope = createScope();
let system: SeparateSystem;
let database: Database;

beforeAll(async () => {
  system = await startSeparateSystem();
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

// A test that failed may have left processes dead.
beforeEach(async () => {
  for (const name of ["runs-api", "workflows"] as const) await system.start(name);
  await system.waitUntilReady();
});

/** Kills a process and starts it again a while later. */
async function crash(name: ProcessName): Promise<void> {
  await system.kill(name, "SIGKILL");
  await sleep(Math.random() * 500);
  await system.start(name);
}

async function expectAgreements(ids: readonly string[], gateway?: GatewayName): Promise<void> {
  await Promise.all(ids.map((id) => expectAgreement(system, database, id, gateway)));
}

describe("a change that the execution plane is not there to hear", () => {
  it(
    "takes effect by itself after a 503, and before a 200 when the execution plane is back in time",
    async () => {
      const [changes, drafts] = await Promise.all([
        prepareChanges(system, database),
        Promise.all(Array.from({ length: 5 * ROUNDS }, () => createDraft(system))),
      ]);
      await system.kill("runs-api", "SIGKILL");
      expect(await changes.ask()).toEqual(CHANGES.map(() => 503));
      await changes.expectDue();

      const activations = drafts.map(async (id) => {
        const { status } = await system.call("POST", `/workflows/${id}/activate`);
        expect([200, 503]).toContain(status);
        if (status === 200) expect((await runWhenPossible(system, id)).status).toBe(202);
      });
      await Promise.all(drafts.map((id) => untilRevision(database, id, 1)));
      await system.start("runs-api");
      await Promise.all(activations);
      await expectAgreements([...changes.ids, ...drafts]);
    },
    LONG,
  );
});

describe("kill -9 of the control plane between commit and push", () => {
  it(
    "loses no change: the next process hands all of them over, with no further call",
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const changes = await prepareChanges(system, database);
        // It takes connections and pushes, but does nothing with them.
        await system.kill("runs-api", "SIGSTOP");
        const answers = changes.ask();
        await changes.untilCommitted();
        await system.kill("workflows", "SIGKILL");
        expect(await answers).toEqual(CHANGES.map(() => 503));
        // The pushes that it has not read die with it.
        await system.kill("runs-api", "SIGKILL");
        await changes.expectDue();
        await Promise.all([system.start("runs-api"), system.start("workflows")]);
        await expectAgreements(changes.ids);
      }
    },
    LONG,
  );
});

/** Lets a process stand still for a moment; what has come to it meanwhile is done all at once. */
async function freeze(name: ProcessName): Promise<void> {
  await system.kill(name, "SIGSTOP");
  await sleep(Math.random() * 500);
  await system.kill(name, "SIGCONT");
}

/** Lets something happen once a round. */
async function inRounds(task: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(Math.random() * 500);
    await task(round);
    await sleep(500);
  }
}

/** Repeats a task until something else has happened, and what it has begun to its end. */
async function repeatDuring(faults: Promise<void>, task: (n: number) => Promise<void>) {
  let isOver = false;
  const ending = faults.finally(() => {
    isOver = true;
  });
  for (let n = 1; !isOver; n += 1) await task(n);
  await ending;
}

describe("callers who race while processes die", () => {
  it(
    "get a version for each update, and the execution plane ends with the newest",
    async () => {
      const id = await createActive(system);
      let updates = 0;
      const faults = inRounds(async () => {
        await crash("runs-api");
        await sleep(1_000);
        await freeze("runs-api");
      });
      const update = async (caller: string, n: number): Promise<void> => {
        const body = answering(`${caller} ${n}`);
        const updated = await system.call("PUT", `/workflows/${id}`, body);
        // The control plane is there all the time, so an update is made whether it is deployed or not.
        expect([200, 503]).toContain(updated.status);
        updates += 1;
        if (updated.status !== 200) return;
        const run = await runWhenPossible(system, id);
        expect(run.status).toBe(202);
        expect(run.body.data["workflowVersion"]).toBeGreaterThanOrEqual(
          Number(updated.body.data["version"]),
        );
      };
      await Promise.all(
        ["a", "b", "c", "d"].map((caller) => repeatDuring(faults, (n) => update(caller, n))),
      );
      await expectAgreements([id]);
      expect((await readPlanes(database, id)).version).toBe(1 + updates);
    },
    LONG,
  );

  it(
    "to activate and to pause leave GET and run in agreement",
    async () => {
      const ids = await Promise.all([1, 2, 3].map(() => createActive(system)));
      const faults = inRounds(async () => {
        await Promise.all([crash("workflows"), crash("runs-api")]);
      });
      const callers = ids.flatMap((id) =>
        ["activate", "pause"].map((change) =>
          repeatDuring(faults, async () => {
            // 400: it is in that status already. 409: it changed too often meanwhile.
            const { status } = await system.call("POST", `/workflows/${id}/${change}`);
            expect([200, 400, 409, 503]).toContain(status);
          }),
        ),
      );
      await Promise.all(callers);
      await expectAgreements(ids);
    },
    LONG,
  );
});

/** A new workflow, if it could be created and its activation was answered 200. */
async function tryToActivate(gateway: GatewayName): Promise<string | null> {
  const body = { name: "Handed over", trigger: { type: "api" }, ...answering("first") };
  const created = await system.call("POST", "/workflows", body, gateway);
  if (created.status !== 201) return null;
  const id = String(created.body.data["id"]);
  const activated = await system.call("POST", `/workflows/${id}/activate`, undefined, gateway);
  return activated.status === 200 ? id : null;
}

describe("two replicas of each service", () => {
  const REPLICAS = ["runs-api-2", "workflows-2", "gateway-2"] as const;
  const GATEWAYS: readonly GatewayName[] = ["gateway", "gateway-2"];
  /** Who dies together. At first one of the two ways through the system stays whole. */
  const VICTIMS: readonly (readonly ProcessName[])[] = [
    ["workflows", "runs-api"],
    ["workflows-2", "runs-api-2"],
    ["workflows", "runs-api-2"],
  ];

  beforeEach(async () => {
    for (const name of REPLICAS) await system.start(name);
    await system.waitUntilReady("gateway-2");
  });
  afterAll(async () => {
    for (const name of REPLICAS) await system.kill(name, "SIGKILL");
  });

  it(
    "a push that arrives late does not bring back what is older",
    async () => {
      const id = await createActive(system);
      await system.kill("runs-api-2", "SIGSTOP");
      const late = system.call("PUT", `/workflows/${id}`, answering("older"), "gateway-2");
      await untilRevision(database, id, 2);
      const newer = await system.call("PUT", `/workflows/${id}`, answering("newer"));
      expect(newer).toMatchObject({ status: 200, body: { data: { version: 3 } } });
      await system.kill("runs-api-2", "SIGCONT");
      expect([200, 503]).toContain((await late).status);
      await expectAgreements([id]);
    },
    LONG,
  );

  it(
    "a push that arrives does not pass for that of a newer change, which was lost",
    async () => {
      const id = await createActive(system);
      await Promise.all([system.kill("runs-api", "SIGSTOP"), system.kill("runs-api-2", "SIGSTOP")]);
      const older = system.call("PUT", `/workflows/${id}`, answering("older"), "gateway-2");
      await untilRevision(database, id, 2);
      const newer = system.call("PUT", `/workflows/${id}`, answering("newer"));
      await untilRevision(database, id, 3);
      await system.kill("workflows", "SIGKILL");
      expect((await newer).status).toBe(503);
      await system.kill("runs-api", "SIGKILL");
      await system.kill("runs-api-2", "SIGCONT");
      expect([200, 503]).toContain((await older).status);
      await expectAgreements([id], "gateway-2");
    },
    LONG,
  );

  it(
    "after a 200 of activate a run works at once, whichever is asked, while processes die",
    async () => {
      const faults = inRounds(async (round) => {
        const victims = VICTIMS[round % VICTIMS.length] ?? [];
        await Promise.all(victims.map(crash));
      });
      const ids: string[] = [];
      await Promise.all(
        GATEWAYS.map((here, index) =>
          repeatDuring(faults, async () => {
            const id = await tryToActivate(here);
            if (id === null) return;
            ids.push(id);
            expect((await readPlanes(database, id)).head).toMatchObject({ status: "active" });
            const run = await runWhenPossible(system, id, undefined, GATEWAYS[1 - index]);
            expect(run.status).toBe(202);
          }),
        ),
      );
      expect(ids.length).toBeGreaterThan(0);
      await expectAgreements(ids.slice(-20), "gateway-2");
    },
    LONG,
  );
});
