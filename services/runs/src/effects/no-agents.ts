import { StepError } from "../domain/step-error.ts";
import type { AgentClient } from "../interpreter/effects/agent-client.ts";

/** Where no service asks agents. */
export const NO_AGENTS: AgentClient = {
  takeTurn: () => Promise.resolve(() => {}),
  ask() {
    const message = "No service asks AI agents in this installation.";
    return Promise.reject(new StepError("NOT_CONFIGURED", message, { retryable: false }));
  },
  close() {},
};
