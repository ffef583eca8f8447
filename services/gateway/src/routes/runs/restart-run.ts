import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { restartedRunJson } from "./restarted-run.ts";

export const restartRun = route({
  method: "POST",
  path: "/runs/{id}/restart",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.restarted",
  summary: "Start a run that repeats an ended one from a step on",
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      fromStepId: z.string().min(1, "must not be empty"),
      overrideInput: jsonObject.optional(),
    }),
  },
  responses: { 202: "The new run is accepted." },
  handler: async ({ runs, call }, { params, body, rawJson }) => {
    const { fromStepId } = body;
    const overrideInputJson = rawJson("overrideInput");
    const request = { runId: params.id, fromStepId, overrideInputJson };
    return { status: 202, data: restartedRunJson(await runs.restartRun(request, call)) };
  },
});
