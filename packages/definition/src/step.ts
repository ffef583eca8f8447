import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { DEFINITION_LIMITS } from "./limits.ts";
import { retryPolicySchema } from "./retry-policy.ts";

const ID_RULE = "must be 1 to 128 letters, digits, dashes or underscores";

/** The id of a step or a branch (D16). */
export const idSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, { error: ID_RULE })
  .meta({ description: "Letters, digits, dashes and underscores; unique in the whole workflow" });

/** The members of every step (D16), whatever its type. Unknown keys are kept. Times are in milliseconds. */
export const stepSchema = z.looseObject({
  id: idSchema,
  type: z.string().min(1).meta({ description: "One of the types below" }),
  name: z.string().min(1).max(DEFINITION_LIMITS.nameCharsMax).meta({ description: "For people" }),
  action: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "Id of the action, of a step of type action" }),
  config: z.record(z.string(), z.unknown()).meta({ description: "What the type takes, see below" }),
  when: z.unknown().optional().meta({
    description: "A condition; the step is skipped when it does not hold",
  }),
  timeoutMs: z
    .int()
    .min(1)
    .max(DEFINITION_LIMITS.timeoutMsMax)
    .optional()
    .meta({ description: "How long one attempt may take, in milliseconds" }),
  retry: retryPolicySchema.optional().meta({
    description:
      "What happens after a failed attempt; replaces the workflow's policy, which action, email and agent steps follow",
  }),
  onError: z.enum(["fail", "continue"]).default("fail").meta({
    description: "Whether a failure fails the run or is only recorded",
  }),
  checkpoint: z.boolean().default(false).meta({
    description: "Whether the end of the step is announced as the event workflow.checkpoint",
  }),
});

/** A step as the caller sent it. */
export type Step = z.input<typeof stepSchema>;

/** A list of nested steps in a step's config. */
export interface NestedBlock {
  /**
   * The part of a nested step's path (D26): a branch's id, or `else`. Null where the step has one list only.
   */
  label: string | null;
  /** The path of the list in the config. */
  path: readonly string[];
  /** Expected to be an array of steps. */
  steps: unknown;
  /** Whether the steps run once for each item or iteration, so that `{{loop.…}}` has a value there. */
  repeats: boolean;
  /** Whether the step can be executed with an empty list. */
  mayBeEmpty: boolean;
}

/** A part of a config in which templates are evaluated. */
export interface TemplateField {
  /** The path of the part in the config. */
  path: readonly string[];
  value: unknown;
  /** Whether the step's nested steps have run before, as for a loop's condition. */
  seesOwnBlocks?: boolean;
}

/** The members of a config that have these keys. */
export function pickOwn(config: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(config, key)).map((key) => [key, config[key]]),
  );
}

/** The members of a config under these keys, as template fields. */
export function fieldsOf(config: JsonObject, keys: readonly string[]): TemplateField[] {
  return keys
    .filter((key) => Object.hasOwn(config, key))
    .map((key) => ({ path: [key], value: config[key] }));
}
