import { z } from "zod";
import type { WholeSystem } from "../whole-system.ts";
import { ACCESS } from "./access.ts";
import { withId } from "./audited-request.ts";
import type { AuditedRequest, PrepareAudited } from "./audited-request.ts";
import { DASHBOARDS } from "./dashboards.ts";
import { INTEGRATIONS } from "./integrations.ts";
import { RUNS } from "./runs.ts";
import { TABLES } from "./tables.ts";
import { WEBHOOKS } from "./webhooks.ts";
import { WORKFLOWS } from "./workflows.ts";

const PREPARE: Readonly<Record<string, PrepareAudited>> = {
  ...WORKFLOWS,
  ...RUNS,
  ...INTEGRATIONS,
  ...WEBHOOKS,
  ...ACCESS,
  ...DASHBOARDS,
  ...TABLES,
};

const withUserId = z.object({ userId: z.string() });

/** A request of a route that will succeed. Throws for a route that no file of this folder knows. */
export async function prepareAudited(system: WholeSystem, name: string): Promise<AuditedRequest> {
  const prepare = PREPARE[name];
  if (prepare === undefined) {
    throw new Error(`Say how ${name} succeeds, in ${import.meta.dirname}.`);
  }
  return prepare(system);
}

/** The id of the object that an answer says was made; undefined when the answer does not say. */
export function madeId(data: unknown): string | undefined {
  return withId.safeParse(data).data?.id ?? withUserId.safeParse(data).data?.userId;
}
