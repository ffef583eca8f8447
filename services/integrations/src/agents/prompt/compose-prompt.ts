import { readFileSync } from "node:fs";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { Agent } from "../../domain/agent.ts";
import type { AgentQuestion } from "../agent-answer.ts";
import { AgentInputError } from "../agent-input-error.ts";
import { CORE_AGENTS } from "../core/core-agents.ts";
import type { ComposedPrompt } from "./composed-prompt.ts";
import { chooseCode, delimit, randomCode } from "./delimiters.ts";
import type { Block, MakeCode } from "./delimiters.ts";

const RULES = readText("rules.md");
const ANSWER_BY_SCHEMA = readText("answer-by-schema.md");
const ANSWER_BY_BLOCK = readText("answer-by-block.md");

function readText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8").trim();
}

/** The parts of a question before they are formatted. */
interface Parts {
  readonly blocks: readonly Block[];
  /** The rule for the answer's form; null without one. */
  readonly answerRule: string | null;
  readonly outputSchema: ComposedPrompt["outputSchema"];
}

/**
 * Composes the first messages to a model. The system prompt contains nothing of the input or the user's
 * message. The user's turn contains each of them between delimiters that they can't close. Templates
 * are not resolved.
 *
 * @param makeCode makes the code in the delimiters; random by default
 * @throws AgentInputError when the agent does not take the input
 */
export function composePrompt(
  question: Pick<AgentQuestion, "agent" | "input" | "userMessage">,
  makeCode: MakeCode = randomCode,
): ComposedPrompt {
  const { agent } = question;
  const { blocks, answerRule, outputSchema } = agent.isCore
    ? partsOfCore(question)
    : partsOfCustom(question);
  const code = chooseCode(blocks, makeCode);
  // The code comes last, because providers cache the common beginning of prompts.
  const system = [agent.systemPrompt, answerRule, RULES.replace("{code}", () => code)];
  return {
    system: system.filter((part) => part !== null).join("\n\n"),
    user: blocks.map((block) => delimit(block, code)).join("\n"),
    outputSchema,
  };
}

/** The schema depends on the input, so it stands in the user's turn as the input does. */
function partsOfCore({ agent, input, userMessage }: PromptQuestion): Parts {
  const core = CORE_AGENTS.find(({ id }) => id === agent.id);
  if (core === undefined) throw new Error(`There is no core agent ${agent.id}`);
  const { variables, outputSchema } = core.prepare(input);
  const schemaBlock: Block = { kind: "output-schema", text: JSON.stringify(outputSchema) };
  return {
    blocks: [...variables.map(toBlock), ...messageBlocks(userMessage), schemaBlock],
    answerRule: ANSWER_BY_BLOCK,
    outputSchema,
  };
}

/** The agent's author wrote prompt and schema, so both stand in the system prompt. */
function partsOfCustom({ agent, input, userMessage }: PromptQuestion): Parts {
  const members = Object.entries(input);
  refuseTooMany(members);
  const whole: Block = { kind: "input", type: "json", text: "{}" };
  const schemaJson = agent.outputSchemaJson;
  return {
    blocks: [
      ...(members.length === 0 ? [whole] : members.map(toBlock)),
      ...messageBlocks(userMessage),
    ],
    answerRule: schemaJson === null ? null : ANSWER_BY_SCHEMA.replace("{schema}", () => schemaJson),
    outputSchema: schemaJson === null ? null : parseSchema(schemaJson, agent),
  };
}

type PromptQuestion = Parameters<typeof composePrompt>[0];

/** The limit of an input's members. Each costs its delimiters, which may be longer than the member. */
const MEMBERS_MAX = 200;
const NAME_CHARS_MAX = 255;

function refuseTooMany(members: readonly (readonly [string, unknown])[]): void {
  if (members.length > MEMBERS_MAX) {
    throw new AgentInputError([
      { path: ["input"], message: `must have at most ${MEMBERS_MAX} members` },
    ]);
  }
  if (members.some(([name]) => name.length > NAME_CHARS_MAX)) {
    const message = `must have members whose names have at most ${NAME_CHARS_MAX} characters`;
    throw new AgentInputError([{ path: ["input"], message }]);
  }
}

function toBlock([name, value]: readonly [string, unknown]): Block {
  if (typeof value === "string") return { kind: "input", name, type: "text", text: value };
  return { kind: "input", name, type: "json", text: JSON.stringify(value) };
}

function messageBlocks(userMessage: string | null): Block[] {
  return userMessage === null ? [] : [{ kind: "message", text: userMessage }];
}

/** The schema was checked when it was stored. */
function parseSchema(schemaJson: string, { id }: Agent): JsonObject {
  const schema: unknown = JSON.parse(schemaJson);
  if (isJsonObject(schema)) return schema;
  throw new Error(`The output schema of agent ${id} is no object`);
}
