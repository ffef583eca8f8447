import { createFairness } from "@workflow/async";
import { planDefinitionInTurns } from "@workflow/definition";
import type { DefinitionPlan } from "@workflow/definition";
import { invalidRequest } from "@workflow/errors";
import { parseJsonText } from "@workflow/json";
import type { PlanWorkflowRequest, WorkflowPlan } from "@workflow/proto/workflows/v1/plans";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseStored } from "../domain/content.ts";
import { getWorkflow } from "../store/get-workflow.ts";
import { PlanTurns } from "./plan-turns.ts";
import { requireWorkflowKey } from "./workflow-key.ts";

/** Predicts what a run of the stored definition would do (D24). Writes nothing. */
export function planWorkflow({
  database,
  checker,
}: ServiceContext): UnaryMethod<PlanWorkflowRequest, WorkflowPlan> {
  const turns = new PlanTurns();
  return rpc({
    scopes: "workflows:read",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const { companyId } = key;
      return await turns.run(companyId, context.signal, async () => {
        const input = parseInput(request.inputJson);
        // The query lets other work run between two plans.
        const row = await getWorkflow(database, key);
        // The compiled definition of an unchanged workflow is cached, so a repeated plan costs
        // little.
        const violations = await checker.check({ companyId, content: row, mayBeUnfinished: false });
        const options = {
          violations,
          input,
          workflowId: row.id,
          version: row.version,
          now: new Date(),
        };
        const fairness = createFairness();
        return toPlanMessage(
          await planDefinitionInTurns(parseStored(row), options, () => fairness.yieldIfDue()),
        );
      });
    },
  });
}

function parseInput(inputJson: string | undefined): unknown {
  if (inputJson === undefined) return {};
  const parsed = parseJsonText(inputJson, "object");
  if (!parsed.ok) throw invalidRequest([{ path: ["input"], message: parsed.message }]);
  return parsed.value;
}

function toPlanMessage(definitionPlan: DefinitionPlan): WorkflowPlan {
  const { problems, steps, triggerProviders, unnamedProviders, ...plan } = definitionPlan;
  return {
    ...plan,
    connectionProviders: [...new Set([...triggerProviders, ...unnamedProviders])].toSorted(),
    choosingProviders: unnamedProviders,
    problems: problems.map(({ path, message }) => ({ path: [...path], message })),
    steps: steps.map(({ resolvedConfig, ...step }) => ({
      ...step,
      resolvedConfigJson: JSON.stringify(resolvedConfig),
    })),
  };
}
