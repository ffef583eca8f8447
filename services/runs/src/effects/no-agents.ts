import { StepError } from "../domain/step-error.ts";
import type { AgentClient } from "../interpreter/effects/agent-client.ts";

/** The client where no service answers for agents. */
export const NO_AGENTS: AgentClient = {
  takeTurn: () => Promise.resolve(() => {}),
  ask() {
    const message = "No service asks AI agents in this installation.";
    return Promise.reject(new StepError("NOT_CONFIGURED", message, { retryable: false }));
  },
  close() {},
};
