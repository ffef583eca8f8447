import { createActive, runToEnd } from "./scenarios.ts";
import type { WholeSystem } from "./whole-system.ts";

const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
/** The step `mail`, which is tried three times. */
export const mailStep = (config: object) => ({
  id: "mail",
  type: "email",
  name: "mail",
  retry,
  config: { subject: "Hello", text: "Hello", ...config },
});

/** Runs a workflow of one e-mail step to its end. */
export async function send(system: WholeSystem, config: object, input: object = {}) {
  const workflowId = await createActive(system, { steps: [mailStep(config)] });
  return runToEnd(system, workflowId, input);
}
