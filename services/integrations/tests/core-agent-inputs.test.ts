import { describe, expect, it } from "@jest/globals";
import { CORE_AGENTS } from "../src/agents/core/core-agents.ts";
import { refusals } from "./support/core-agent-checks.ts";
import type { Input } from "./support/core-agent-checks.ts";
import { CORE_AGENT_EXAMPLES } from "./support/core-agent-examples.ts";

const FIELD =
  "must be a name, or an object with a name and perhaps type (string, number, integer, boolean, date, datetime, array or object), description and required (true or false)";
const OPTION = "must be a string, or an object with an id, value or name that is a string";
const LONG = "x".repeat(20_001);

/** Values that a variable does not take, beside a variable that is there. */
const WRONG: readonly [id: string, beside: Input, wrong: Input, said: string][] = [
  ["agent_extraction", {}, {}, "document is required and must be a string"],
  ["agent_extraction", {}, { document: null }, "document is required and must be a string"],
  ["agent_extraction", {}, { document: 5 }, "document must be a string, not a number"],
  ["agent_extraction", {}, { document: " \n" }, "document must not be empty"],
  ["agent_extraction", { document: "d" }, { schema: [] }, "schema must be an object, not an array"],
  ["agent_extraction", { document: "d" }, { fields: "a" }, "fields must be an array, not a string"],
  ["agent_extraction", { document: "d" }, { fields: [] }, "fields must have at least 1 item"],
  ["agent_extraction", { document: "d" }, { fields: ["a", 1] }, `fields.1 ${FIELD}`],
  ["agent_extraction", { document: "d" }, { fields: [{ type: "string" }] }, `fields.0 ${FIELD}`],
  [
    "agent_extraction",
    { document: "d" },
    { fields: [{ name: "a", type: "money" }] },
    `fields.0 ${FIELD}`,
  ],
  [
    "agent_extraction",
    { document: "d" },
    { fields: ["__proto__"] },
    "fields.0 must be another name",
  ],
  [
    "agent_extraction",
    { document: "d" },
    { fields: ["a", { name: "a" }] },
    "fields must not name a field twice",
  ],
  [
    "agent_extraction",
    { document: "d" },
    { fields: Array.from({ length: 201 }, (_, index) => `f${index}`) },
    "fields must have at most 200 items",
  ],
  [
    "agent_extraction",
    { document: "d" },
    { documentType: 1 },
    "documentType must be a string, not a number",
  ],
  [
    "agent_extraction",
    { document: "d" },
    { customInstructions: LONG },
    "customInstructions must have at most 20000 characters",
  ],
  [
    "agent_content",
    { context: "c" },
    { contentType: "poem" },
    'contentType must be "email", "message", "summary" or "notification"',
  ],
  [
    "agent_content",
    { context: "c" },
    { tone: "rude" },
    'tone must be "professional", "friendly", "formal", "casual" or "urgent"',
  ],
  [
    "agent_content",
    { context: "c" },
    { format: "pdf" },
    'format must be "text", "html" or "markdown"',
  ],
  [
    "agent_content",
    { context: "c" },
    { recipient: {} },
    "recipient must be a string, not an object",
  ],
  ["agent_content", {}, { subject: 1 }, "subject must be a string, not a number"],
  ["agent_content", {}, { context: ["c"] }, "context must be a string, not an array"],
  ["agent_content", {}, { keyPoints: "k" }, "keyPoints must be an array, not a string"],
  ["agent_content", {}, { keyPoints: [1] }, "keyPoints.0 must be a string or an object"],
  ["agent_transform", { targetSchema: {} }, {}, "data is required"],
  [
    "agent_transform",
    { data: 1, targetSchema: {} },
    { sourceSchema: true },
    "sourceSchema must be an object, not a boolean",
  ],
  [
    "agent_transform",
    { data: 1 },
    { targetSchema: "{}" },
    "targetSchema must be an object, not a string",
  ],
  [
    "agent_transform",
    { data: 1 },
    { mappingRules: {} },
    "mappingRules must be an array, not an object",
  ],
  [
    "agent_transform",
    { data: 1 },
    { mappingRules: [null] },
    "mappingRules.0 must be a string or an object",
  ],
  [
    "agent_transform",
    { data: 1 },
    { defaultValues: [] },
    "defaultValues must be an object, not an array",
  ],
  ["agent_decision", { options: ["a"] }, {}, "data is required"],
  [
    "agent_decision",
    { data: 1 },
    { decisionType: "coin" },
    'decisionType must be "approval_routing", "classification" or "priority"',
  ],
  ["agent_decision", { data: 1 }, { options: {} }, "options must be an array, not an object"],
  ["agent_decision", { data: 1 }, { options: [] }, "options must have at least 1 item"],
  ["agent_decision", { data: 1 }, { options: ["a", { label: "A" }] }, `options.1 ${OPTION}`],
  [
    "agent_decision",
    { data: 1 },
    { options: ["a", ""] },
    "options.1 must have at least 1 character",
  ],
  [
    "agent_decision",
    { data: 1 },
    { options: ["a", { id: "a" }] },
    "options must not name an option twice",
  ],
  ["agent_decision", { data: 1 }, { criteria: "c" }, "criteria must be an array, not a string"],
  ["agent_decision", { data: 1 }, { thresholds: 5 }, "thresholds must be an object, not a number"],
  [
    "agent_decision",
    { data: 1 },
    { context: 5 },
    "context must be a string, an object or an array, not a number",
  ],
];

describe("inputs of core agents", () => {
  it.each(Object.entries(CORE_AGENT_EXAMPLES))("%s takes all of its variables", (id, input) => {
    expect(refusals(id, input)).toEqual([]);
  });

  it.each(WRONG)("%s with %j refuses %j", (id, beside, wrong, said) => {
    expect(refusals(id, { ...beside, ...wrong })).toEqual([`input.${said}`]);
  });

  it.each(CORE_AGENTS.map((agent) => [agent.id] as const))(
    "%s refuses variables that it does not have, so that none is left out unseen",
    (id) => {
      const [first = ""] = refusals(id, { ...CORE_AGENT_EXAMPLES[id], costumInstructions: "c" });
      expect(first).toMatch(
        /^input\.costumInstructions is not a variable of agent_\w+, which takes /,
      );
      const many = Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`v${index}`, 0]),
      );
      expect(refusals(id, many)).toHaveLength(20);
      const [long = ""] = refusals(id, { ["n".repeat(500_000)]: 0 });
      expect(long.length).toBeLessThan(1_000);
    },
  );

  it("need no more than the document or the data", () => {
    expect(refusals("agent_content", {})).toEqual([]);
    expect(refusals("agent_content", { contentType: "email", tone: "urgent" })).toEqual([]);
    expect(refusals("agent_extraction", { document: "d" })).toEqual([]);
    for (const id of ["agent_transform", "agent_decision"]) {
      expect(refusals(id, { data: null })).toEqual([]);
      expect(refusals(id, {})).toHaveLength(1);
    }
  });

  it("are refused without looking at each of very many items", () => {
    const options = Array.from({ length: 100_000 }, () => 1);
    expect(refusals("agent_decision", { data: 1, options })).toEqual([
      "input.options must have at most 2000 entries",
    ]);
  });
});
