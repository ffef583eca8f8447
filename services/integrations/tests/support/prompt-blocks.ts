import { composePrompt } from "../../src/agents/prompt/compose-prompt.ts";
import type { ComposedPrompt } from "../../src/agents/prompt/composed-prompt.ts";
import { findCoreAgent } from "../../src/agents/core/core-agents.ts";
import type { Agent } from "../../src/domain/agent.ts";

/** A block of a user's turn, read back. */
export interface ReadBlock {
  kind: string;
  name: string | null;
  type: string | null;
  text: string;
}

/** The code of a conversation, found where the model finds it. */
export function codeOf({ system }: Pick<ComposedPrompt, "system">): string {
  const code = /The code of this conversation is ([0-9a-f]{32})\.$/.exec(system)?.[1];
  if (code === undefined) throw new Error("the system prompt does not end with a code");
  return code;
}

/** Reads a user's turn by its delimiters alone. Throws when anything stands outside of them. */
export function readBlocks(prompt: Pick<ComposedPrompt, "system" | "user">): ReadBlock[] {
  const code = codeOf(prompt);
  const block = new RegExp(
    `<(input|message|output-schema)-${code}(?: name=("(?:[^"\\\\\\n]|\\\\.)*"))?(?: type="(text|json)")?>\\n([^]*?)\\n</\\1-${code}>(?:\\n|$)`,
    "y",
  );
  const blocks: ReadBlock[] = [];
  while (block.lastIndex < prompt.user.length) {
    const from = block.lastIndex;
    const [, kind = "", name, type, text = ""] = block.exec(prompt.user) ?? fail(prompt.user, from);
    blocks.push({
      kind,
      name: name === undefined ? null : String(JSON.parse(name)),
      type: type ?? null,
      text,
    });
  }
  return blocks;
}

function fail(user: string, from: number): never {
  throw new Error(`outside of blocks: ${JSON.stringify(user.slice(from, from + 200))}`);
}

/** The value that a block of the input stands for. */
export function valueOf({ type, text }: ReadBlock): unknown {
  return type === "json" ? JSON.parse(text) : text;
}

/** An agent of a company. */
export function customAgent(changes: Partial<Agent> = {}): Agent {
  return {
    id: "01997d5c-0000-7000-8000-000000000001",
    isCore: false,
    name: "Support",
    description: null,
    type: "custom",
    status: "active",
    provider: "openai",
    systemPrompt: "Answer the customer's question in {{language}}.",
    outputSchemaJson: null,
    temperature: 0.7,
    maxTokens: 4_096,
    version: 1,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...changes,
  };
}

/** A core agent that has to be there. */
export function coreAgent(id: string): Agent {
  const agent = findCoreAgent(id, "openai");
  if (agent === null) throw new Error(`no core agent ${id}`);
  return agent;
}

/** What a core agent's model is told. */
export function composeCore(
  id: string,
  input: Record<string, unknown>,
  userMessage: string | null = null,
): ComposedPrompt {
  return composePrompt({ agent: coreAgent(id), input, userMessage });
}
