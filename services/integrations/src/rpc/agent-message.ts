import {
  AgentStatus as MessageStatus,
  AgentType as MessageType,
} from "@workflow/proto/integrations/v1/agents";
import type { Agent as AgentMessage } from "@workflow/proto/integrations/v1/agents";
import { AGENT_TYPES } from "../domain/agent.ts";
import type { Agent, AgentStatus, AgentType } from "../domain/agent.ts";
import type { Models } from "../agents/models/model.ts";
import { wrongField } from "./connection-request.ts";

/** The types by their names in messages. */
const MESSAGE_TYPE = {
  extraction: MessageType.EXTRACTION,
  content: MessageType.CONTENT,
  transform: MessageType.TRANSFORM,
  decision: MessageType.DECISION,
  code: MessageType.CODE,
  classification: MessageType.CLASSIFICATION,
  custom: MessageType.CUSTOM,
} as const satisfies Record<AgentType, MessageType>;

/** The statuses by their names in messages. */
export const MESSAGE_STATUS = {
  active: MessageStatus.ACTIVE,
  deprecated: MessageStatus.DEPRECATED,
} as const satisfies Record<AgentStatus, MessageStatus>;

/**
 * The type that a message names; undefined for none.
 *
 * @throws AppError BAD_REQUEST for an unknown type
 */
export function agentTypeOf(type: MessageType): AgentType | undefined {
  const known = AGENT_TYPES.find((each) => MESSAGE_TYPE[each] === type);
  if (known !== undefined || type === MessageType.UNSPECIFIED) return known;
  throw wrongField("type", `must be one of ${AGENT_TYPES.join(", ")}`);
}

/** The message for an agent, with the model of its provider in this installation. */
export function toAgentMessage(agent: Agent, models: Pick<Models, "modelOf">): AgentMessage {
  const { type, status, description, outputSchemaJson, ...rest } = agent;
  return {
    ...rest,
    type: MESSAGE_TYPE[type],
    status: MESSAGE_STATUS[status],
    model: models.modelOf(agent.provider),
    description: description ?? undefined,
    outputSchemaJson: outputSchemaJson ?? undefined,
  };
}
