import { z } from "zod";
import { fieldsOf } from "../step.ts";
import { compileOptional, compileTemplates } from "../template.ts";
import { templatable, templatableText } from "../zod-messages.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z.looseObject({
  workflowId: templatableText(
    z.guid({ error: "must be the id of a workflow, which is a UUID" }),
  ).meta({
    description: "The workflow to run",
  }),
  input: templatable(z.record(z.string(), z.unknown()))
    .optional()
    .meta({ description: "The run's input; an empty object by default" }),
  wait: z
    .boolean()
    .default(true)
    .meta({ description: "Whether the step waits for the run's end and returns its output" }),
});

/** Runs another workflow (D17). */
export const workflowStep: StepType = {
  type: "workflow",
  title: "Workflow",
  description:
    "Runs another active workflow, at most 25 deep. The output is that run's output, or {runId} where the step does not wait.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
  },

  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, ["workflowId", "input"]),

  compile({ config }, base) {
    const { workflowId, input, wait } = config;
    return {
      ...base,
      type: "workflow",
      workflowId: compileTemplates(workflowId),
      input: compileOptional(input),
      wait: wait !== false,
    };
  },
};
