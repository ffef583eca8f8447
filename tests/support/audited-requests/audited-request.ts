import { z } from "zod";
import type { CallOptions } from "../api-client.ts";
import type { WholeSystem } from "../whole-system.ts";

/** A request that succeeds, of a route that may change something. */
export interface AuditedRequest extends CallOptions {
  path: string;
  /** The objects that the request changes, one event each; null for one whose id the answer may say. */
  resourceIds: readonly string[] | null;
}

/** Makes what a route's request needs to succeed, and returns the request. */
export type PrepareAudited = (system: WholeSystem) => Promise<AuditedRequest>;

/** The data of an answer with an id. */
export const withId = z.object({ id: z.string() });
