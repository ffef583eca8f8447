import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import type { Workflow } from "@workflow/proto/workflows/v1/workflows";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { errorOf, newIdentity, startHarness, stepsJson, validWorkflow } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const EMPTY_CANVAS = '{"blocks":{},"edges":[],"loops":{},"parallels":{}}';
const READS = 40;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

function read(workflowId: string, identity: Identity): Promise<Workflow> {
  return harness.client.getWorkflow({ workflowId }, { identity });
}

async function create(identity: Identity, text: string): Promise<Workflow> {
  const request = validWorkflow({ name: text.slice(0, 20), stepsJson: stepsJson(text) });
  return harness.client.createWorkflow(request, { identity });
}

/** Workflows of each kind: small ones, a large one, one with a canvas, an archived one. */
async function createSome(identity: Identity): Promise<Workflow[]> {
  const workflows = [await create(identity, "one"), await create(identity, "two")];
  workflows.push(await create(identity, "large".repeat(40_000)));
  const drawn = await create(identity, "drawn");
  await harness.client.saveCanvas(
    { workflowId: drawn.id, canvasStateJson: EMPTY_CANVAS },
    { identity },
  );
  const archived = await create(identity, "archived");
  await harness.client.archiveWorkflow({ workflowId: archived.id }, { identity });
  const ids = [drawn.id, archived.id];
  for (const id of ids) workflows.push(await read(id, identity));
  return workflows;
}

describe("reads that arrive together", () => {
  it("answer each caller as a read alone does: its own workflows, and NOT_FOUND for another's", async () => {
    const alice = newIdentity();
    const bob = newIdentity();
    const owned = [
      { owner: alice, other: bob, workflows: await createSome(alice) },
      { owner: bob, other: alice, workflows: await createSome(bob) },
    ];

    const own = owned.flatMap(({ owner, workflows }) =>
      workflows.map(async (workflow) => ({ workflow, got: await read(workflow.id, owner) })),
    );
    const foreign = owned.flatMap(({ other, workflows }) =>
      workflows.map(({ id }) => errorOf(read(id, other))),
    );
    const unknown = [errorOf(read(newUuid(), alice)), errorOf(read("none", bob))];
    const again = owned.flatMap(({ owner, workflows }) =>
      workflows.map(async (workflow) => ({
        workflow,
        got: await read(workflow.id.toUpperCase(), owner),
      })),
    );

    for (const { workflow, got } of await Promise.all([...own, ...again])) {
      expect(got).toEqual(workflow);
    }
    const errors = await Promise.all([...foreign, ...unknown]);
    expect(errors).toHaveLength(12);
    for (const error of errors) {
      expect(error).toMatchObject({ reason: "NOT_FOUND", message: "Workflow not found" });
    }
  });

  it("are one statement where they came in the same turn", async () => {
    const identity = newIdentity();
    const workflows = await Promise.all(
      Array.from({ length: READS }, (_, index) => create(identity, `workflow ${index}`)),
    );

    const answers = await harness.database.transaction(async (transaction) => {
      await transaction.query(
        sql.type(z.object({}))`lock table workflows.workflows in access exclusive mode`,
      );
      const reading = Promise.all(workflows.map(({ id }) => read(id, identity)));
      await waitFor(async () =>
        (await waitingReads(transaction)).some((text) =>
          /^\s*select workflow\.company_id/.test(text),
        ),
      );
      return { reading };
    });

    expect(await answers.reading).toEqual(workflows);
  });

  it("see what was changed before they began", async () => {
    const identity = newIdentity();
    const { id } = await create(identity, "before");
    const others = await create(identity, "other");
    await harness.client.updateWorkflow(
      { workflowId: id, updateMask: ["name"], name: "after" },
      { identity },
    );

    const answers = await Promise.all([id, others.id, id].map((each) => read(each, identity)));

    expect(answers.map(({ name }) => name)).toEqual(["after", "other", "after"]);
  });

  it("fail together while the table cannot be read, and work again afterwards", async () => {
    const identity = newIdentity();
    const workflows = [await create(identity, "one"), await create(identity, "two")];
    await rename("workflows", "hidden");
    const reads = workflows.map(({ id }) => errorOf(read(id, identity)));
    const [errors] = await Promise.allSettled([Promise.all(reads)]);
    await rename("hidden", "workflows");

    const unreadable = { reason: "INTERNAL_ERROR" };
    expect(errors).toMatchObject({ value: [unreadable, unreadable] });
    expect(await Promise.all(workflows.map(({ id }) => read(id, identity)))).toEqual(workflows);
  });
});

/** The statements of the service that wait for a lock; only those of several reads begin with companies. */
async function waitingReads(transaction: Transaction): Promise<readonly string[]> {
  // Else a transaction sees the others as they were when it first looked.
  await transaction.query(sql.type(z.object({}))`select pg_stat_clear_snapshot()`);
  const rows = await transaction.any(
    sql.type(z.object({ query: z.string() }))`
      select query from pg_stat_activity
      where datname = current_database()
        and application_name = 'workflow-workflows' and wait_event_type = 'Lock'
    `,
  );
  return rows.map(({ query }) => query);
}

async function rename(from: string, to: string): Promise<void> {
  await harness.database.query(
    sql.type(z.object({}))`
      alter table ${sql.identifier(["workflows", from])} rename to ${sql.identifier([to])}
    `,
  );
}
