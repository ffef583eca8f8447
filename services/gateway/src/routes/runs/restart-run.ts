import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { restartedRunJson } from "./restarted-run.ts";
import { repeatedRunSchema } from "./run-schema.ts";

export const restartRun = route({
  method: "POST",
  path: "/runs/{id}/restart",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.restarted",
  summary: "Restart a run from a step",
  description: [
    "A new run begins at `fromStepId`, inclusive, with the version of the original; the outputs of the steps before are taken over.",
    "`overrideInput` is merged over the input: objects member by member at every depth, any other value, an array too, as a whole.",
    "Only runs that are completed, failed or timeout can be restarted, else INVALID_STATE; an unknown step is INVALID_STEP.",
    "Each request starts a run, which names the original in `restartedFromRunId`.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      fromStepId: z
        .string()
        .min(1, "must not be empty")
        .describe(
          "The id, or the path, of the first step that is executed again; at most 4,096 characters.",
        )
        .meta({ examples: ["greet"] }),
      overrideInput: jsonObject
        .optional()
        .describe(
          "Laid over the original's input; the result may have 1 MiB and has to fit the inputSchema.",
        )
        .meta({ examples: [{ name: "Grace" }] }),
    }),
  },
  responses: { 202: { description: "The new run is accepted.", data: repeatedRunSchema } },
  errors: ["NOT_FOUND", "INVALID_STATE", "INVALID_STEP", "VALIDATION_ERROR"],
  handler: async ({ runs, call }, { params, body, rawJson }) => {
    const { fromStepId } = body;
    const overrideInputJson = rawJson("overrideInput");
    const request = { runId: params.id, fromStepId, overrideInputJson };
    return { status: 202, data: restartedRunJson(await runs.restartRun(request, call)) };
  },
});
