import type { z } from "zod";

/** What an action takes; what it does is the business of the service that runs it. */
export interface ActionDefinition {
  /** `<group>.<verb>`, as in a step's `action`. */
  readonly id: string;
  /** A loose object: keys that an older client does not know are kept. Templates are accepted. */
  readonly inputs: z.ZodType;
}
