import { compileJsonSchema } from "@workflow/definition";
import { AgentInputError } from "../../src/agents/agent-input-error.ts";
import { composeCore } from "./prompt-blocks.ts";

export type Input = Record<string, unknown>;

/** Where an input is refused, as `input.a.0`, with what is said of it. */
export function refusals(id: string, input: Input, userMessage: string | null = null): string[] {
  try {
    composeCore(id, input, userMessage);
    return [];
  } catch (error) {
    if (!(error instanceof AgentInputError)) throw error;
    return error.violations.map(({ path, message }) => `${path.join(".")} ${message}`);
  }
}

/** What is wrong with an answer to this input. */
export function wrongWith(id: string, input: Input, answer: unknown): string[] {
  const compiled = compileJsonSchema(composeCore(id, input).outputSchema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.violations));
  return compiled.validate(answer).map(({ path, message }) => `${path.join(".")} ${message}`);
}
