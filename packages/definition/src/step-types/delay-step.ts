import { z } from "zod";
import { parseIsoTime } from "../iso-time.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { fieldsOf } from "../step.ts";
import { compileTemplates } from "../template.ts";
import { templatable } from "../zod-messages.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z
  .looseObject({
    durationMs: templatable(z.int().min(0).max(DEFINITION_LIMITS.delayMsMax))
      .optional()
      .meta({ description: "How long, in milliseconds" }),
    until: z
      .string()
      .refine((text) => text.includes("{{") || parseIsoTime(text) !== undefined, {
        error: "must be an ISO timestamp such as 2026-01-31T09:00:00Z, or a template",
      })
      .optional()
      .meta({ description: "The moment, as an ISO timestamp; UTC without an offset" }),
  })
  .refine((config) => (config.durationMs === undefined) !== (config.until === undefined), {
    error: "a delay has exactly one of durationMs and until",
  })
  .meta({ oneOf: [{ required: ["durationMs"] }, { required: ["until"] }] });

/** Waits for a time or until an instant: `{durationMs}` or `{until}` (D17). */
export const delayStep: StepType = {
  type: "delay",
  title: "Delay",
  description:
    "Waits for a time or until a moment: exactly one of durationMs and until. The run is suspended meanwhile when it lasts over 5 seconds. The output is {resumedAt}.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
  },

  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, ["durationMs", "until"]),

  compile({ config }, base) {
    const { durationMs, until } = config;
    return {
      ...base,
      type: "delay",
      delay:
        durationMs === undefined
          ? { kind: "until", until: compileTemplates(until) }
          : { kind: "duration", durationMs: compileTemplates(durationMs) },
    };
  },
};
