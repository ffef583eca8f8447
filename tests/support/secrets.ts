import { expect } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import type { WholeSystem } from "./whole-system.ts";

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** A secret with the fields of the contract, and no others. */
export const secretSchema = z.strictObject({
  id: z.uuid(),
  workflowId: z.uuid(),
  key: z.string(),
  maskedValue: z.string(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/** `POST` of a secret, with the key of Acme where none is given. */
export function postSecret(
  system: WholeSystem,
  workflowId: string,
  body: unknown,
  key?: string,
): Promise<Answer> {
  const path = `/workflows/${workflowId}/secrets`;
  return system.call("POST", path, { body, ...(key === undefined ? {} : { key }) });
}

/** `PUT` of a secret. */
export function putSecret(
  system: WholeSystem,
  workflowId: string,
  key: string,
  body: unknown,
): Promise<Answer> {
  return system.call("PUT", `/workflows/${workflowId}/secrets/${key}`, { body });
}

/** `DELETE` of a secret. */
export function removeSecret(
  system: WholeSystem,
  workflowId: string,
  key: string,
): Promise<Answer> {
  return system.call("DELETE", `/workflows/${workflowId}/secrets/${key}`);
}

/** The secrets of a workflow, whose answer has to be 200. */
export async function listSecrets(system: WholeSystem, workflowId: string) {
  const answer = await system.call("GET", `/workflows/${workflowId}/secrets`);
  expect(answer).toMatchObject({ status: 200, error: undefined, meta: undefined });
  return z.array(secretSchema).parse(answer.data);
}
