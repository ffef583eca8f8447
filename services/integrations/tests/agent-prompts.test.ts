import { describe, expect, it } from "@jest/globals";
import { CORE_AGENTS } from "../src/agents/core/core-agents.ts";
import { composePrompt } from "../src/agents/prompt/compose-prompt.ts";
import { CORE_AGENT_EXAMPLES } from "./support/core-agent-examples.ts";
import {
  codeOf,
  composeCore,
  coreAgent,
  customAgent,
  readBlocks,
  valueOf,
} from "./support/prompt-blocks.ts";

const VARIABLES = CORE_AGENTS.flatMap(({ id, variableNames }) =>
  variableNames.map((name) => ({ id, name })),
);

function exampleOf(id: string): Readonly<Record<string, unknown>> {
  const example = CORE_AGENT_EXAMPLES[id];
  if (example === undefined) throw new Error(`no example of ${id}`);
  return example;
}

describe("prompts of core agents", () => {
  it("exist for the four agents of the contract, with the variables of the contract", () => {
    expect(Object.fromEntries(CORE_AGENTS.map((agent) => [agent.id, agent.variableNames]))).toEqual(
      {
        agent_extraction: ["document", "schema", "fields", "documentType", "customInstructions"],
        agent_content: [
          "contentType",
          "tone",
          "format",
          "recipient",
          "subject",
          "context",
          "keyPoints",
          "customInstructions",
        ],
        agent_transform: [
          "data",
          "sourceSchema",
          "targetSchema",
          "mappingRules",
          "defaultValues",
          "customInstructions",
        ],
        agent_decision: [
          "data",
          "decisionType",
          "options",
          "criteria",
          "thresholds",
          "context",
          "customInstructions",
        ],
      },
    );
  });

  it.each(CORE_AGENTS.map(({ id }) => id))(
    "%s is ASCII, as one other letter doubles what a question takes of memory",
    (id) => {
      expect(/[^\n -~]/.exec(composeCore(id, exampleOf(id)).system)).toBeNull();
    },
  );

  it.each(VARIABLES)("$id says what $name is", ({ id, name }) => {
    expect(coreAgent(id).systemPrompt).toContain(`\n- \`${name}\``);
  });

  it.each(CORE_AGENTS.map((agent) => ({ id: agent.id, schema: agent.outputSchema })))(
    "$id says what each member of its answer is",
    ({ id, schema }) => {
      const [, answer = ""] = coreAgent(id).systemPrompt.split("\n# Answer\n");
      for (const member of [schema["required"]].flat()) {
        expect(answer).toContain(`\`${String(member)}\``);
      }
    },
  );

  it.each(VARIABLES)("$id hands $name over when it is given", ({ id, name }) => {
    const example = exampleOf(id);
    const block = readBlocks(composeCore(id, example)).find((each) => each.name === name);
    expect(block === undefined ? undefined : valueOf(block)).toEqual(example[name]);
  });

  it.each(VARIABLES.filter(({ name }) => !["document", "data"].includes(name)))(
    "$id has no trace of $name when it is not given or null",
    ({ id, name }) => {
      const { [name]: _, ...others } = exampleOf(id);
      for (const input of [others, { ...others, [name]: null }]) {
        const prompt = composeCore(id, input);
        const blocks = readBlocks(prompt).filter(({ kind }) => kind === "input");
        expect(blocks.map((block) => [block.name, valueOf(block)])).toEqual(Object.entries(others));
        expect(prompt.user).not.toContain(`name="${name}"`);
      }
    },
  );

  it.each(CORE_AGENTS.map(({ id }) => id))("%s is asked by its schema, which comes last", (id) => {
    const prompt = composeCore(id, exampleOf(id), "Be quick.");
    const blocks = readBlocks(prompt);
    expect(blocks.at(-2)).toEqual({ kind: "message", name: null, type: null, text: "Be quick." });
    const { kind, text } = blocks.at(-1) ?? { kind: "", text: "{}" };
    expect(kind).toBe("output-schema");
    expect(JSON.parse(text)).toEqual(prompt.outputSchema);
  });

  it.each(CORE_AGENTS.map(({ id }) => id))(
    "%s has nothing of the input in the system prompt",
    (id) => {
      const bare = { agent_content: { context: "c" }, agent_extraction: { document: "d" } }[id] ?? {
        data: 1,
        customInstructions: "c",
      };
      const [first, second] = [composeCore(id, exampleOf(id), "Be quick."), composeCore(id, bare)];
      expect(codeOf(first)).not.toBe(codeOf(second));
      expect(first.system.replace(codeOf(first), codeOf(second))).toBe(second.system);
    },
  );
});

describe("prompts of custom agents", () => {
  it("begin with the author's own, with its templates as they are", () => {
    const agent = customAgent();
    const prompt = composePrompt({ agent, input: { language: "Greek" }, userMessage: null });
    expect(prompt.system.startsWith(`${agent.systemPrompt}\n\n# How this`)).toBe(true);
    expect(prompt.system).not.toContain("Greek");
    expect(prompt.outputSchema).toBeNull();
  });

  it("hold the author's schema word by word", () => {
    const outputSchemaJson = '{"type":"object","description":"$& {code} {schema}"}';
    const agent = customAgent({ outputSchemaJson });
    const prompt = composePrompt({ agent, input: {}, userMessage: null });
    expect(prompt.system).toContain(`\n${outputSchemaJson}\n`);
    expect(prompt.outputSchema).toEqual(JSON.parse(outputSchemaJson));
  });

  it("hand over each member by itself: texts as they are, the rest as JSON", () => {
    const input = { text: " a\r\n\tb ", five: 5, "5": "5", none: null, deep: [{ a: ["b"] }] };
    const prompt = composePrompt({ agent: customAgent(), input, userMessage: "Now." });
    expect(readBlocks(prompt)).toEqual([
      { kind: "input", name: "5", type: "text", text: "5" },
      { kind: "input", name: "text", type: "text", text: " a\r\n\tb " },
      { kind: "input", name: "five", type: "json", text: "5" },
      { kind: "input", name: "none", type: "json", text: "null" },
      { kind: "input", name: "deep", type: "json", text: '[{"a":["b"]}]' },
      { kind: "message", name: null, type: null, text: "Now." },
    ]);
  });

  it("hand over an empty input too, since providers refuse an empty question", () => {
    const prompt = composePrompt({ agent: customAgent(), input: {}, userMessage: null });
    expect(readBlocks(prompt)).toEqual([{ kind: "input", name: null, type: "json", text: "{}" }]);
  });

  it("refuse inputs of so many members that delimiters would be most of the question", () => {
    const input = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`m${index}`, 0]));
    const ask = (given: Record<string, unknown>) =>
      composePrompt({ agent: customAgent(), input: given, userMessage: null });
    expect(() => ask(input)).toThrow("input must have at most 200 members");
    expect(() => ask({ ["n".repeat(256)]: 0 })).toThrow("names have at most 255 characters");
    const { m200: _, ...fitting } = input;
    expect(readBlocks(ask({ ...fitting, m0: "x" }))).toHaveLength(200);
    expect(readBlocks(ask({ ["n".repeat(255)]: 0 }))).toHaveLength(1);
  });
});
