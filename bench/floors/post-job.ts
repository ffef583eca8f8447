import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "../child-process.ts";

/** What the floor under deliveries is asked to send. */
export const postJob = z.object({
  url: z.url(),
  count: z.number(),
  connections: z.number(),
  /** Null is as fast as they are answered. */
  ratePerSecond: z.number().nullable(),
  /** Of the filler in each body. */
  bodyBytes: z.number(),
});
export type PostJob = z.output<typeof postJob>;

/** Sends signed POSTs from a process that ends with the scope; resolves when all are answered. */
export type Post = (job: PostJob) => Promise<void>;

/** Starts that process. */
export function startPostFloor(scope: Scope): Post {
  const helper = startHelper(scope, "post-floor.ts", import.meta.url);
  return async (job) => {
    await helper.ask(job, z.object({ done: z.literal(true) }));
  };
}
