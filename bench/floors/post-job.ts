import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "../child-process.ts";

/** A job of the floor under deliveries. */
export const postJob = z.object({
  url: z.url(),
  count: z.number(),
  connections: z.number(),
  /** The rate; null for as fast as answers come. */
  ratePerSecond: z.number().nullable(),
  /** The bytes of the filler in each body. */
  bodyBytes: z.number(),
});
export type PostJob = z.output<typeof postJob>;

/** Sends signed POSTs from a process that ends with the scope; resolves when all are answered. */
export type Post = (job: PostJob) => Promise<void>;

/** Starts the process that sends POSTs. */
export function startPostFloor(scope: Scope): Post {
  const helper = startHelper(scope, "post-floor.ts", import.meta.url);
  return async (job) => {
    await helper.ask(job, z.object({ done: z.literal(true) }));
  };
}
