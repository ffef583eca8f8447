import { expect } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { z } from "zod";
import { canvasState } from "../../support/canvas.ts";
import type { DrivenSystem } from "../../support/driven-system.ts";
import { transform, workflowBody } from "../../support/scenarios.ts";
import { send } from "../support/commands.ts";
import type { Action } from "../support/commands.ts";

type Status = "draft" | "active" | "paused" | "archived";

/** What one workflow is, by the contract's table of statuses and D20 to D22. */
export interface WorkflowModel {
  id: string;
  status: Status;
  /** The content of each version by its number; the last is the current one. */
  versions: { name: string; says: string }[];
  runs: number;
}

const ALLOWED: Readonly<Record<Status, readonly Status[]>> = {
  draft: ["active", "archived"],
  active: ["paused", "archived"],
  paused: ["active", "archived"],
  archived: [],
};

const withId = z.looseObject({ id: z.string() });
const versionList = z.looseObject({
  currentVersion: z.number(),
  versions: z.array(z.looseObject({ version: z.number(), name: z.string() })),
});

/** A new workflow and its model. */
export async function createModel(system: DrivenSystem): Promise<WorkflowModel> {
  const body = workflowBody({ name: "first", steps: [transform("say", "first")] });
  const { data } = await send(system, ["POST", "/workflows", body], [201]);
  const { id } = withId.parse(data);
  return { id, status: "draft", versions: [{ name: "first", says: "first" }], runs: 0 };
}

const word = fc.constantFrom("a", "b", "c");

/** Everything that is done to a workflow. */
export const WORKFLOW_ACTIONS: fc.Arbitrary<Action<WorkflowModel>>[] = [
  fc.constant({
    name: "activate",
    run: (model, system) => move(model, system, "activate", "active"),
  }),
  fc.constant({ name: "pause", run: (model, system) => move(model, system, "pause", "paused") }),
  fc.constant({ name: "read", run: read }),
  fc.constant({ name: "list versions", run: listVersions }),
  fc.constant({ name: "run", run: start }),
  fc.constant({
    name: "delete",
    run: async (model, system) => {
      await send(system, ["DELETE", `/workflows/${model.id}`], [200]);
      model.status = "archived";
    },
  }),
  word.map((name) => ({
    name: `rename to ${name}`,
    run: (model, system) => put(model, system, { name }),
  })),
  word.map((says) => ({
    name: `say ${says}`,
    run: (model, system) => put(model, system, { says }),
  })),
  word.map((says) => ({ name: `save canvas with ${says}`, run: saveCanvas(says) })),
  fc.constant({ name: "save canvas", run: saveCanvas(null) }),
  word.map((name) => ({ name: `clone as ${name}`, run: clone(name) })),
  fc.integer({ min: 1, max: 5 }).map((version) => ({
    name: `roll back to ${version}`,
    run: rollBack(version),
  })),
  fc.integer({ min: 1, max: 5 }).map((version) => ({
    name: `read version ${version}`,
    run: readVersion(version),
  })),
];

async function move(
  model: WorkflowModel,
  system: DrivenSystem,
  verb: string,
  target: Status,
): Promise<void> {
  const isAllowed = ALLOWED[model.status].includes(target);
  const request = ["POST", `/workflows/${model.id}/${verb}`] as const;
  const answer = await send(system, request, isAllowed ? [200] : [400, "BAD_REQUEST"]);
  if (isAllowed) model.status = target;
  else expect(answer.error?.details).toMatchObject({ allowedTransitions: ALLOWED[model.status] });
}

async function put(
  model: WorkflowModel,
  system: DrivenSystem,
  { name, says }: { name?: string; says?: string },
): Promise<void> {
  const body = { name, ...(says !== undefined && { steps: [transform("say", says)] }) };
  const isArchived = model.status === "archived";
  const request = ["PUT", `/workflows/${model.id}`, body] as const;
  await send(system, request, isArchived ? [400, "BAD_REQUEST"] : [200]);
  if (!isArchived)
    change(model, { ...(name !== undefined && { name }), ...(says !== undefined && { says }) });
}

/** An active workflow gets a new version, another is changed in place (D20). */
function change(model: WorkflowModel, changes: { name?: string; says?: string }): void {
  const content = { ...currentOf(model), ...changes };
  if (model.status !== "active") model.versions.pop();
  model.versions.push(content);
}

function currentOf({ versions }: Readonly<WorkflowModel>): { name: string; says: string } {
  return versions.at(-1) ?? { name: "", says: "" };
}

async function read(model: WorkflowModel, system: DrivenSystem): Promise<void> {
  const { name, says } = currentOf(model);
  const { data } = await send(system, ["GET", `/workflows/${model.id}`], [200]);
  expect(data).toMatchObject({
    status: model.status,
    version: model.versions.length,
    name,
    steps: [{ config: { mapping: says } }],
  });
}

async function listVersions(model: WorkflowModel, system: DrivenSystem): Promise<void> {
  const { data } = await send(system, ["GET", `/workflows/${model.id}/versions`], [200]);
  const { currentVersion, versions } = versionList.parse(data);
  expect(currentVersion).toBe(model.versions.length);
  const expected = model.versions.map(({ name }, index) => ({ version: index + 1, name }));
  expect(versions.map(({ version, name }) => ({ version, name }))).toEqual(expected.toReversed());
}

async function start(model: WorkflowModel, system: DrivenSystem): Promise<void> {
  const request = ["POST", `/workflows/${model.id}/run`, { input: {}, mode: "sync" }] as const;
  const isActive = model.status === "active";
  const answer = await send(system, request, isActive ? [200] : [400, "WORKFLOW_NOT_ACTIVE"]);
  if (!isActive) return;
  expect(answer.data).toMatchObject({ status: "completed", output: currentOf(model).says });
  model.runs += 1;
  const { data } = await send(system, ["GET", `/workflows/${model.id}/runs?limit=100`], [200]);
  expect(data).toHaveLength(model.runs);
}

/** Without steps only the picture is saved, which makes no version. */
function saveCanvas(says: string | null): Action<WorkflowModel>["run"] {
  return async (model, system) => {
    const steps = says === null ? {} : { steps: [transform("say", says)] };
    const body = { canvasState: canvasState(), ...steps };
    const isArchived = model.status === "archived";
    const request = ["PATCH", `/workflows/${model.id}/canvas`, body] as const;
    await send(system, request, isArchived ? [400, "BAD_REQUEST"] : [200]);
    if (!isArchived && says !== null) change(model, { says });
  };
}

function clone(name: string): Action<WorkflowModel>["run"] {
  return async (model, system) => {
    const request = ["POST", `/workflows/${model.id}/clone`, { name }] as const;
    const { data } = await send(system, request, [201]);
    expect(data).toMatchObject({ name, status: "draft", version: 1, clonedFrom: model.id });
  };
}

function rollBack(version: number): Action<WorkflowModel>["run"] {
  return async (model, system) => {
    const content = model.versions[version - 1];
    // A version that does not exist is told before the status (D2).
    const isUnknown = content === undefined;
    const refusal = isUnknown ? ([404, "NOT_FOUND"] as const) : ([400, "BAD_REQUEST"] as const);
    const isRefused = isUnknown || model.status === "archived";
    const request = ["POST", `/workflows/${model.id}/versions/${version}/rollback`] as const;
    const { data } = await send(system, request, isRefused ? refusal : [200]);
    if (isRefused) return;
    model.versions.push(content);
    expect(data).toMatchObject({ version: model.versions.length, status: model.status });
  };
}

function readVersion(version: number): Action<WorkflowModel>["run"] {
  return async (model, system) => {
    const content = model.versions[version - 1];
    const request = ["GET", `/workflows/${model.id}/versions/${version}`] as const;
    const { data } = await send(
      system,
      request,
      content === undefined ? [404, "NOT_FOUND"] : [200],
    );
    if (content === undefined) return;
    const isCurrent = version === model.versions.length;
    expect(data).toMatchObject({ name: content.name, isCurrent });
  };
}
