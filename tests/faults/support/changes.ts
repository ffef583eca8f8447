import { expect } from "@jest/globals";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { canvasState } from "../../support/canvas.ts";
import type { SeparateSystem } from "../../support/separate-system.ts";
import { answering, createActive, createDraft, createPaused, readPlanes } from "./planes.ts";

/** A change of a workflow that the execution plane has to know. */
interface Change {
  /** Makes the workflow that will be changed. */
  prepare: (system: SeparateSystem) => Promise<string>;
  /** The request; its path goes below the workflow. */
  request: readonly [method: string, path: string, body?: unknown];
  /** What is stored once the change is made. */
  leadsTo: { revision: number; status: string; version: number };
}

/** Every kind of change that is handed over. */
export const CHANGES: readonly Change[] = [
  {
    prepare: createDraft,
    request: ["POST", "/activate"],
    leadsTo: { revision: 1, status: "active", version: 1 },
  },
  {
    prepare: createPaused,
    request: ["POST", "/activate"],
    leadsTo: { revision: 3, status: "active", version: 1 },
  },
  {
    prepare: createActive,
    request: ["PUT", "", answering("second")],
    leadsTo: { revision: 2, status: "active", version: 2 },
  },
  {
    prepare: createActive,
    request: ["PATCH", "/canvas", { canvasState: canvasState(), ...answering("drawn") }],
    leadsTo: { revision: 2, status: "active", version: 2 },
  },
  {
    prepare: createActive,
    request: ["POST", "/versions/1/rollback"],
    leadsTo: { revision: 2, status: "active", version: 2 },
  },
  {
    prepare: createActive,
    request: ["POST", "/pause"],
    leadsTo: { revision: 2, status: "paused", version: 1 },
  },
  {
    prepare: createActive,
    request: ["DELETE", ""],
    leadsTo: { revision: 2, status: "archived", version: 1 },
  },
];

/** Makes a workflow for each kind of change; the changes are asked for later, all at once. */
export async function prepareChanges(system: SeparateSystem, database: Database) {
  const prepared = await Promise.all(
    CHANGES.map(async (change) => ({ ...change, id: await change.prepare(system) })),
  );
  return {
    ids: prepared.map(({ id }) => id),
    /** The status of each answer. */
    ask: () =>
      Promise.all(
        prepared.map(async ({ id, request: [method, path, body] }) => {
          const { status } = await system.call(method, `/workflows/${id}${path}`, body);
          return status;
        }),
      ),
    untilCommitted: async () => {
      await Promise.all(
        prepared.map(({ id, leadsTo }) => untilRevision(database, id, leadsTo.revision)),
      );
    },
    /** Expects that the changes are stored and that the execution plane knows of none. */
    expectDue: async () => {
      for (const { id, leadsTo } of prepared) {
        const planes = await readPlanes(database, id);
        expect(planes).toMatchObject(leadsTo);
        expect(planes.head?.revision ?? 0).toBe(leadsTo.revision - 1);
      }
    },
  };
}

/** Waits until a change is committed, whether or not it is handed over. */
export async function untilRevision(
  database: Database,
  workflowId: string,
  revision: number,
): Promise<void> {
  await waitFor(async () => (await readPlanes(database, workflowId)).revision === revision, {
    what: "the change to be committed",
  });
}
