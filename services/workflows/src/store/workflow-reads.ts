import { answerTogether, Batcher } from "@workflow/async";
import type { Queryable } from "@workflow/db";
import { findSmallWorkflows, getWorkflowWithCanvas } from "./get-workflow.ts";
import type { VisualWorkflow } from "./get-workflow.ts";
import type { WorkflowKey } from "./workflow-row.ts";

/** Reads single workflows; concurrent reads share one statement. */
export interface WorkflowReads {
  /**
   * The workflow as it is stored after the call, with its visual editor's state. Concurrent callers
   * for the same workflow share the answer.
   *
   * @throws AppError NOT_FOUND for a workflow that is missing or of another company
   */
  get(key: WorkflowKey): Promise<VisualWorkflow>;
}

/** The number of workflows in one statement. */
const READS_MAX = 32;
/**
 * Larger workflows are read alone: a statement's answer is held as a whole, and small ones would
 * wait for it.
 */
const BYTES_MAX = 64 * 1024;

/**
 * Joins all reads of one turn of the event loop, whichever company they are for. A statement costs
 * about as much as a gRPC call, however many rows it returns (ADR 49); a single read waits for
 * nothing.
 */
export function createWorkflowReads(database: Queryable): WorkflowReads {
  /** Reads of this turn. Callers of a later one get a state that is not older than their call. */
  const waiting = new Map<string, Promise<VisualWorkflow>>();
  const reads = new Batcher<WorkflowKey, VisualWorkflow>({
    itemsMax: READS_MAX,
    handle: answerTogether((keys) => {
      for (const key of keys) waiting.delete(nameOf(key));
      return readTogether(database, keys);
    }),
  });
  return {
    get(key) {
      const name = nameOf(key);
      const answer = waiting.get(name) ?? reads.ask(key);
      waiting.set(name, answer);
      return answer;
    },
  };
}

/** Large workflows are promises: small ones do not wait for them. */
async function readTogether(
  database: Queryable,
  keys: readonly WorkflowKey[],
): Promise<Promise<VisualWorkflow>[]> {
  const small = new Map<string, VisualWorkflow>();
  if (keys.length > 1) {
    for (const { companyId, ...found } of await findSmallWorkflows(database, keys, BYTES_MAX)) {
      small.set(nameOf({ companyId, workflowId: found.workflow.id }), found);
    }
  }
  return keys.map(async (key) => small.get(nameOf(key)) ?? getWorkflowWithCanvas(database, key));
}

/** Compares id and company: several companies may ask for the same id, and one of them owns it. */
function nameOf({ companyId, workflowId }: WorkflowKey): string {
  return `${companyId}/${workflowId}`;
}
