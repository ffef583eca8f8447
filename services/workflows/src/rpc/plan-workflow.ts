import { parseJsonText, planDefinition } from "@workflow/definition";
import type { DefinitionPlan } from "@workflow/definition";
import type { PlanWorkflowRequest, WorkflowPlan } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { badRequest, parseStored } from "../domain/content.ts";
import { getWorkflow } from "../store/get-workflow.ts";
import { requireWorkflowKey } from "./workflow-key.ts";

/** Says what a run of the stored definition would do (D24). Writes nothing. */
export function planWorkflow({
  database,
}: ServiceContext): UnaryMethod<PlanWorkflowRequest, WorkflowPlan> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const input = parseInput(request.inputJson);
      const row = await getWorkflow(database, key);
      const plan = planDefinition(parseStored(row), {
        input,
        workflowId: row.id,
        version: row.version,
        now: new Date(),
      });
      return toPlanMessage(plan);
    },
  });
}

function parseInput(inputJson: string | undefined): unknown {
  if (inputJson === undefined) return {};
  const parsed = parseJsonText(inputJson, "object");
  if (!parsed.ok) throw badRequest([{ path: ["input"], message: parsed.message }]);
  return parsed.value;
}

function toPlanMessage({ problems, steps, connections, ...plan }: DefinitionPlan): WorkflowPlan {
  return {
    ...plan,
    connectionProviders: connections,
    problems: problems.map(({ path, message }) => ({ path: [...path], message })),
    steps: steps.map(({ resolvedConfig, ...step }) => ({
      ...step,
      resolvedConfigJson: JSON.stringify(resolvedConfig),
    })),
  };
}
