import type { Database } from "@workflow/db";
import { isUuid } from "@workflow/db";
import type { DeadLetters, EventBus, Subscription } from "@workflow/events";
import { z } from "zod";
import { forgetWorkflow, lockWorkflow } from "../store/archived-workflows.ts";

const STREAM = "workflows";
/** The durable name of the consumer. */
const CONSUMER = "integrations-secrets";

/** The durable consumers of each stream, for the bus inside a process, which waits for them. */
export const EVENT_CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  [STREAM]: [CONSUMER],
};

const archived = z.object({ workflowId: z.string().refine(isUuid) });

/**
 * Deletes the secrets of archived workflows (D44). None remains, even when a secret is created after
 * the event or at the same time.
 */
export function forgetArchivedWorkflows(
  database: Database,
  bus: EventBus,
  deadLetters: DeadLetters,
): Promise<Subscription> {
  return bus.subscribe({
    consumer: CONSUMER,
    stream: STREAM,
    types: ["workflow.archived"],
    deadLetters,
    async handler({ companyId, data }) {
      const workflow = { companyId, workflowId: archived.parse(data).workflowId };
      await database.transaction(async (transaction) => {
        await lockWorkflow(transaction, workflow);
        await forgetWorkflow(transaction, workflow);
      });
    },
  });
}
