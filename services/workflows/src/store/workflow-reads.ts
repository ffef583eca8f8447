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

interface Read {
  readonly key: WorkflowKey;
  readonly answer: PromiseWithResolvers<VisualWorkflow>;
}

/**
 * Joins all reads of one turn of the event loop, whichever company they are for. A statement costs
 * about as much as a gRPC call, however many rows it returns (ADR 49); a single read waits for
 * nothing.
 */
export function createWorkflowReads(database: Queryable): WorkflowReads {
  let waiting = new Map<string, Read>();

  const flush = (): void => {
    const reads = [...waiting.values()];
    waiting = new Map();
    for (let start = 0; start < reads.length; start += READS_MAX) {
      void answerTogether(database, reads.slice(start, start + READS_MAX));
    }
  };

  return {
    get(key) {
      const name = nameOf(key);
      const known = waiting.get(name);
      if (known !== undefined) return known.answer.promise;
      const read = { key, answer: Promise.withResolvers<VisualWorkflow>() };
      if (waiting.size === 0) setImmediate(flush);
      waiting.set(name, read);
      return read.answer.promise;
    },
  };
}

async function answerTogether(database: Queryable, reads: readonly Read[]): Promise<void> {
  const small = new Map<string, VisualWorkflow>();
  try {
    if (reads.length > 1) {
      const keys = reads.map(({ key }) => key);
      for (const { companyId, ...found } of await findSmallWorkflows(database, keys, BYTES_MAX)) {
        small.set(nameOf({ companyId, workflowId: found.workflow.id }), found);
      }
    }
  } catch (error) {
    for (const { answer } of reads) answer.reject(error);
    return;
  }
  for (const { key, answer } of reads) {
    answer.resolve(small.get(nameOf(key)) ?? getWorkflowWithCanvas(database, key));
  }
}

/** Compares id and company: several companies may ask for the same id, and one of them owns it. */
function nameOf({ companyId, workflowId }: WorkflowKey): string {
  return `${companyId}/${workflowId}`;
}
