import type { CompiledContent } from "../deployments/deployment-cache.ts";
import type { FoundError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { StartFault } from "../domain/start-fault.ts";

const START_FAULT_MESSAGES: Readonly<Record<StartFault, string>> = {
  RUN_TOO_MANY_CHILDREN: "The run whose changes have led to this one has too many descendants.",
};

/** How long a chain of runs may be in which each starts the next by what it writes. */
const TRIGGER_DEPTH_MAX = 10;

/**
 * The reason why a run that an event started is not executed; null when it is. The start had no caller to
 * answer with an error. The run fails instead, where everybody can see the reason.
 */
export function findEventRunFault(
  { triggerType, triggerDepth, startFault }: RunFacts,
  { inputSchema }: CompiledContent,
  input: string,
): FoundError | null {
  if (triggerType !== "table" && triggerType !== "webhook") return null;
  if (startFault !== null) return { code: startFault, message: START_FAULT_MESSAGES[startFault] };
  if (triggerDepth > TRIGGER_DEPTH_MAX) {
    const message = `More than ${TRIGGER_DEPTH_MAX} runs in a row have started one another by writing to tables.`;
    return { code: "TRIGGER_LOOP", message };
  }
  const violations = inputSchema?.validate(JSON.parse(input)) ?? [];
  if (violations.length === 0) return null;
  const message = "The event does not fit the workflow's inputSchema.";
  return { code: "INPUT_INVALID", message, details: { violations } };
}
