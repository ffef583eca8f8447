import type { Scope } from "@workflow/async";
import { startHelper } from "./child-process.ts";
import { loadReply } from "./load-protocol.ts";
import type { LoadJob, LoadResult } from "./load-protocol.ts";

/** The load generator, which does one job at a time. */
export type Load = (job: LoadJob) => Promise<LoadResult>;

/**
 * Starts the load process. A job with a single failed request rejects, since a rate of errors is no result.
 */
export function startLoad(scope: Scope): Load {
  const helper = startHelper(scope, "load.ts");
  return async (job) => {
    const reply = await helper.ask(job, loadReply);
    if ("error" in reply) throw new Error(`The load generator failed: ${reply.error}`);
    const { failed, failure, succeeded } = reply.result;
    if (failed > 0 || succeeded === 0) {
      const { method, url } = job.request;
      const reason = failure ?? "no answer at all";
      throw new Error(`${failed} of ${failed + succeeded} × ${method} ${url} failed: ${reason}`);
    }
    return reply.result;
  };
}
