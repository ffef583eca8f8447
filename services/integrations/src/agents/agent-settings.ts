import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { AgentContent } from "../store/agents.ts";
import type { Agent } from "../domain/agent.ts";
import { chooseProvider } from "./choose-provider.ts";
import type { ModelChoice } from "./choose-provider.ts";
import { CORE_AGENTS } from "./core/core-agents.ts";
import {
  DESCRIPTION_CHARS_MAX,
  hasAtMost,
  MAX_TOKENS_MAX,
  NAME_CHARS_MAX,
  SYSTEM_PROMPT_CHARS_MAX,
  TEMPERATURE_MAX,
} from "./limits.ts";
import type { Models } from "./models/model.ts";

/**
 * The settings that a caller gives. Undefined members keep their value, or have their default in a new
 * agent.
 */
export type AgentPatch = ModelChoice & {
  [Field in keyof Omit<AgentContent, "provider">]?: AgentContent[Field] | undefined;
};

/** The defaults of a new agent (contract). */
const DEFAULTS = { description: null, outputSchemaJson: null, temperature: 0.7, maxTokens: 4_096 };

/**
 * The content of a new agent.
 *
 * @param schemaProblems the problems of the output schema
 * @throws AppError BAD_REQUEST naming every field that is wrong or missing
 */
export function newAgentContent(
  patch: AgentPatch,
  schemaProblems: readonly Violation[],
  models: Pick<Models, "modelOf">,
): AgentContent {
  const chosen = chooseProvider(patch, null, models);
  const { name = "", type, systemPrompt = "" } = patch;
  const problems = problemsOf({ ...patch, name, systemPrompt }, schemaProblems);
  if (type === undefined) problems.push({ path: ["type"], message: "is required" });
  if (!chosen.ok) problems.push(chosen.problem);
  if (problems.length > 0 || type === undefined || !chosen.ok) throw invalidAgent(problems);
  return {
    name,
    type,
    systemPrompt,
    provider: chosen.provider,
    description: patch.description ?? DEFAULTS.description,
    outputSchemaJson: patch.outputSchemaJson ?? DEFAULTS.outputSchemaJson,
    temperature: patch.temperature ?? DEFAULTS.temperature,
    maxTokens: patch.maxTokens ?? DEFAULTS.maxTokens,
  };
}

/**
 * Checks the changed fields whose rules are the same for every agent.
 *
 * @param schemaProblems the problems of the output schema
 * @throws AppError BAD_REQUEST naming every wrong field
 */
export function checkPatch(patch: AgentPatch, schemaProblems: readonly Violation[]): void {
  const problems = problemsOf(patch, schemaProblems);
  if (problems.length > 0) throw invalidAgent(problems);
}

/**
 * The content of an agent after a change whose fields were checked.
 *
 * @throws AppError BAD_REQUEST when the model belongs to another provider than the agent's
 */
export function changedAgentContent(
  agent: Agent,
  patch: AgentPatch,
  models: Pick<Models, "modelOf">,
): AgentContent {
  const chosen = chooseProvider(patch, agent.provider, models);
  if (!chosen.ok) throw invalidAgent([chosen.problem]);
  const { description, outputSchemaJson } = patch;
  return {
    name: patch.name ?? agent.name,
    type: patch.type ?? agent.type,
    systemPrompt: patch.systemPrompt ?? agent.systemPrompt,
    provider: chosen.provider,
    description: description === undefined ? agent.description : description,
    outputSchemaJson: outputSchemaJson === undefined ? agent.outputSchemaJson : outputSchemaJson,
    temperature: patch.temperature ?? agent.temperature,
    maxTokens: patch.maxTokens ?? agent.maxTokens,
  };
}

function invalidAgent(violations: readonly Violation[]): AppError {
  const texts = violations.map(({ path, message }) => `${path.join(".")} ${message}`);
  return new AppError("BAD_REQUEST", `The agent is not valid: ${texts.join("; ")}.`, {
    violations: [...violations],
  });
}

function problemsOf(patch: AgentPatch, schemaProblems: readonly Violation[]): Violation[] {
  const { name, description, systemPrompt, temperature, maxTokens } = patch;
  return [
    ...problemsOfText("name", name, 1, NAME_CHARS_MAX),
    ...problemsOfTakenName(name),
    ...problemsOfText("description", description, 0, DESCRIPTION_CHARS_MAX),
    ...problemsOfText("systemPrompt", systemPrompt, 1, SYSTEM_PROMPT_CHARS_MAX),
    ...schemaProblems,
    ...problemsOfNumber("temperature", temperature, 0, TEMPERATURE_MAX),
    ...problemsOfNumber("maxTokens", maxTokens, 1, MAX_TOKENS_MAX),
  ];
}

function problemsOfText(
  field: string,
  text: string | null | undefined,
  charsMin: number,
  charsMax: number,
): Violation[] {
  if (text === undefined || text === null) return [];
  if (!isStorableText(text)) {
    return [{ path: [field], message: "must not contain NUL or unpaired surrogates" }];
  }
  if (text.length >= charsMin && hasAtMost(text, charsMax)) return [];
  const bounds = charsMin === 0 ? `at most ${charsMax}` : `${charsMin} to ${charsMax}`;
  return [{ path: [field], message: `must have ${bounds} characters` }];
}

/** Lists show core agents beside the company's own, so their names are reserved. */
function problemsOfTakenName(name: string | undefined): Violation[] {
  const core = CORE_AGENTS.find((agent) => agent.name === name);
  if (core === undefined) return [];
  return [
    { path: ["name"], message: `must not be ${core.name}: the core agent ${core.id} has it` },
  ];
}

function problemsOfNumber(
  field: string,
  value: number | undefined,
  min: number,
  max: number,
): Violation[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [{ path: [field], message: `must be from ${min} to ${max}` }];
}
