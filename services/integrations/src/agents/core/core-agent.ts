import { boundedMessages, firstIssues, issueProblems, oneOf } from "@workflow/catalog";
import { findOversized, ENTRIES_MAX } from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { readFileSync } from "node:fs";
import type { JsonObject } from "@workflow/json";
import type { z } from "zod";
import type { AgentType } from "../../domain/agent.ts";
import { AgentInputError } from "../agent-input-error.ts";

/** A core agent's input after it was checked. */
export interface PreparedInput {
  /** The given variables, in the order of the agent's documentation. */
  readonly variables: readonly (readonly [name: string, value: unknown])[];
  /** The schema of the answer. */
  readonly outputSchema: JsonObject;
}

/** An agent that all companies have. */
export interface CoreAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: AgentType;
  readonly systemPrompt: string;
  readonly temperature: number;
  readonly maxTokens: number;
  /** Raised with each change of the prompt, the variables or the output. */
  readonly version: number;
  /** A schema that every answer fits, whatever the input asks for. The schema of an input is narrower. */
  readonly outputSchema: JsonObject;
  readonly variableNames: readonly string[];
  /**
   * Checks an input; an optional variable that is null counts as not given.
   *
   * @throws AgentInputError
   */
  prepare(input: JsonObject): PreparedInput;
}

/** The definition of a core agent. */
interface CoreAgentSource<Shape extends z.ZodRawShape> extends Pick<
  CoreAgent,
  "id" | "name" | "description" | "type" | "temperature" | "maxTokens" | "version"
> {
  /** The agent's variables; those that may be left out are optional. */
  readonly variables: z.ZodObject<Shape>;
  /**
   * The schema of the answer to this input.
   *
   * @throws AgentInputError
   */
  readonly outputSchemaOf: (input: Partial<z.output<z.ZodObject<Shape>>>) => JsonObject;
}

/** Makes a core agent; its prompt is `prompts/<id>.md`. */
export function defineCoreAgent<Shape extends z.ZodRawShape>(
  source: CoreAgentSource<Shape>,
): CoreAgent {
  const { variables, outputSchemaOf, ...settings } = source;
  const variableNames = Object.keys(variables.shape);
  return {
    ...settings,
    systemPrompt: readPrompt(source.id),
    outputSchema: outputSchemaOf({}),
    variableNames,
    prepare(input) {
      refuseUnknown(input, variableNames, source.id);
      const given = withoutNulls(input, variables);
      return {
        variables: variableNames
          .filter((name) => Object.hasOwn(given, name))
          .map((name) => [name, given[name]]),
        outputSchema: outputSchemaOf(parseVariables(variables, given)),
      };
    },
  };
}

function readPrompt(id: string): string {
  return readFileSync(new URL(`prompts/${id}.md`, import.meta.url), "utf8").trim();
}

const UNKNOWN_TOLD_MAX = 20;
const NAME_CHARS_TOLD_MAX = 255;

/** A misspelt variable would otherwise be ignored silently. */
function refuseUnknown(input: JsonObject, names: readonly string[], agentId: string): void {
  const unknown = Object.keys(input).filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw new AgentInputError(
    unknown.slice(0, UNKNOWN_TOLD_MAX).map((name) => ({
      path: ["input", name.slice(0, NAME_CHARS_TOLD_MAX)],
      message: `is not a variable of ${agentId}, which takes ${oneOf(names, "and")}`,
    })),
  );
}

/** A template whose path is missing gives null (D19): the optional variable then counts as not given. */
function withoutNulls(input: JsonObject, { shape }: z.ZodObject): JsonObject {
  const isGiven = ([name, value]: [string, unknown]): boolean =>
    value !== null || shape[name]?.safeParse(null).success === true;
  return Object.fromEntries(Object.entries(input).filter(isGiven));
}

function parseVariables<Shape extends z.ZodRawShape>(
  variables: z.ZodObject<Shape>,
  given: JsonObject,
): z.output<z.ZodObject<Shape>> {
  const oversized = findOversized(variables, given);
  if (oversized !== null) {
    const message = `must have at most ${ENTRIES_MAX} entries`;
    throw new AgentInputError([{ path: ["input", ...oversized], message }]);
  }
  const parsed = variables.safeParse(given, { error: boundedMessages() });
  if (parsed.success) return parsed.data;
  throw new AgentInputError(issueProblems(firstIssues(parsed.error)).map(belowInput));
}

function belowInput({ path, message }: Violation): Violation {
  return { path: ["input", ...path], message };
}
