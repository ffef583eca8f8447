import type { Violation } from "@workflow/errors";
import type { PrepareQuestion } from "../agent-answer.ts";
import { AgentInputError } from "../agent-input-error.ts";
import type { Evaluation } from "./evaluate-cases.ts";
import { invalidCases } from "./parse-cases.ts";

/**
 * Checks that the agent takes every case, and that its provider can be asked, before any question is paid.
 *
 * @throws AppError BAD_REQUEST naming each wrong input, ModelCallError NOT_CONFIGURED
 */
export async function checkInputs(
  prepare: PrepareQuestion,
  { companyId, agent, cases, overrides, signal, timeoutMs }: Evaluation,
): Promise<void> {
  const violations: Violation[] = [];
  for (const [index, { input, userMessage }] of cases.entries()) {
    const question = { companyId, agent, input, userMessage, overrides, signal, timeoutMs };
    try {
      await prepare(question);
    } catch (error) {
      if (!(error instanceof AgentInputError)) throw error;
      violations.push(...error.violations.map((each) => placed(each, index)));
      // Problems of the overrides are the same for each case.
      if (error.violations.some(isOfOverrides)) break;
    }
  }
  if (violations.length > 0) throw invalidCases(violations);
}

function placed(violation: Violation, index: number): Violation {
  if (isOfOverrides(violation)) return violation;
  return { ...violation, path: ["cases", String(index), ...violation.path] };
}

function isOfOverrides({ path }: Violation): boolean {
  return path[0] === "overrides";
}
