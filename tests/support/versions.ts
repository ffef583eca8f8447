import { expect } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import { createActive, transform } from "./scenarios.ts";
import type { WholeSystem } from "./whole-system.ts";

const timestamp = z.iso.datetime();
/** A version record with the fields of the contract. */
export const versionRecord = z.strictObject({
  version: z.int().min(1),
  name: z.string(),
  description: z.string().nullable(),
  trigger: z.record(z.string(), z.unknown()),
  steps: z.array(z.unknown()),
  changeSummary: z.string().nullable(),
  status: z.enum(["current", "archived"]),
  isCurrent: z.boolean(),
  createdAt: timestamp.optional(),
});
const versionList = z.strictObject({
  workflowId: z.string(),
  currentVersion: z.int(),
  versions: z.array(versionRecord),
});

/** Updates a workflow, which has to be accepted. */
export async function put(
  system: WholeSystem,
  id: string,
  body: Record<string, unknown>,
): Promise<void> {
  const answer = await system.call("PUT", `/workflows/${id}`, { body });
  expect(answer).toMatchObject({ status: 200, error: undefined });
}

/** A page of the versions of a workflow. */
export async function listVersions(system: WholeSystem, id: string, query = "") {
  const answer = await system.call("GET", `/workflows/${id}/versions${query}`);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return { ...versionList.parse(answer.data), meta: answer.meta };
}

/** Rolls a workflow back; the answer may be a refusal. */
export function rollBack(
  system: WholeSystem,
  id: string,
  version: number | string,
  body?: unknown,
): Promise<Answer> {
  return system.call("POST", `/workflows/${id}/versions/${version}/rollback`, { body });
}

/** An active workflow of three versions whose output is its version. */
export async function createThreeVersions(system: WholeSystem): Promise<string> {
  const id = await createActive(system, { name: "One", steps: [transform("out", 1)] });
  await put(system, id, {
    name: "Two",
    steps: [transform("out", 2)],
    changeSummary: "second",
  });
  await put(system, id, { description: "Three", steps: [transform("out", 3)] });
  return id;
}
