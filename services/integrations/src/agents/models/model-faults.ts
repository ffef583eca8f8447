import type { Logger } from "pino";
import type { AgentProvider } from "../../domain/agent.ts";
import { ModelStatusError } from "./call-failure.ts";
import { ModelCallError } from "./model-call-error.ts";

/** Logs faults that only the operator can fix, once for each until the provider has answered again. */
export interface ModelFaults {
  /** Logs a fault; errors of other kinds are ignored. */
  note(provider: AgentProvider, error: unknown): void;
  passed(provider: AgentProvider): void;
}

/** A log that remembers, in this process, which faults it has logged. */
export function createModelFaults(logger: Logger): ModelFaults {
  const told = new Map<AgentProvider, string>();
  return {
    note(provider, error) {
      if (!(error instanceof ModelCallError)) return;
      const setting = findSetting(provider, error);
      if (setting === null || told.get(provider) === setting) return;
      told.set(provider, setting);
      const { status } = error.failure;
      // The cause names the host, which callers must not see; the log may have it.
      const { cause: err } = error;
      logger.error(
        { provider, setting, status, err },
        "an AI provider does not answer this installation",
      );
    },
    passed(provider) {
      if (!told.delete(provider)) return;
      logger.info({ provider }, "an AI provider answers this installation again");
    },
  };
}

/** The setting that causes the error; null without one. */
function findSetting(provider: AgentProvider, error: ModelCallError): string | null {
  const prefix = provider.toUpperCase();
  const { status, code, mayHaveCost } = error.failure;
  if (!(error instanceof ModelStatusError)) {
    const isUnreached = status === null && code === "AGENT_UNAVAILABLE" && !mayHaveCost;
    return isUnreached ? `${prefix}_BASE_URL` : null;
  }
  const { failure, providerCode } = error;
  // A 403 proves nothing: proxies refuse prompts with it as well.
  if (status === 401) return `${prefix}_API_KEY`;
  if (status === 429 && !failure.retryable) return `${prefix}_API_KEY`;
  if (status === 404) {
    const isModel = providerCode === "model_not_found" || providerCode === "not_found_error";
    return isModel ? `${prefix}_MODEL` : `${prefix}_BASE_URL`;
  }
  return status !== null && status < 400 ? `${prefix}_BASE_URL` : null;
}
