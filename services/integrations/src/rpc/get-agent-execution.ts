import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type {
  AgentExecution,
  GetAgentExecutionRequest,
} from "@workflow/proto/integrations/v1/agent_executions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { EXECUTION_ID_PREFIX } from "../agents/executions/recorded-question.ts";
import type { ServiceContext } from "../context.ts";
import { findExecution } from "../store/agent-executions.ts";
import { toExecutionMessage } from "./agent-execution-message.ts";

/** Returns one execution whole, as long as it is kept and whatever its agent's state is. */
export function getAgentExecution({
  database,
}: Pick<ServiceContext, "database">): UnaryMethod<GetAgentExecutionRequest, AgentExecution> {
  return rpc({
    scopes: "runs:read",
    async handler({ agentId, executionId }, { identity: { companyId } }) {
      const execution = isId(EXECUTION_ID_PREFIX, executionId)
        ? await findExecution(database, { companyId, executionId })
        : null;
      if (execution === null || execution.agentId !== agentId.toLowerCase()) {
        throw new AppError("NOT_FOUND", "Agent execution not found");
      }
      return toExecutionMessage(execution);
    },
  });
}
