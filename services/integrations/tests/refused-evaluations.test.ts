import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type {
  AgentCase,
  EvaluateAgentRequest,
} from "@workflow/proto/integrations/v1/agent_evaluations";
import type { Identity } from "@workflow/rpc";
import {
  aCase,
  evaluation,
  makeAgent,
  newAuthor,
  startEvaluationHarness,
} from "./support/evaluation-harness.ts";
import type { AgentsClient, EvaluationHarness } from "./support/evaluation-harness.ts";
import { errorOf } from "./support/harness.ts";

let harness: EvaluationHarness;
let client: AgentsClient;
let author: Identity;
let agentId: string;

beforeAll(async () => {
  harness = await startEvaluationHarness();
  client = await harness.start();
  author = newAuthor();
  agentId = await makeAgent(client, author);
});
// Whatever is refused was refused before anything was paid.
afterEach(() => expect(harness.openai.requests).toHaveLength(0));
afterAll(() => harness.close());

const GOOD: AgentCase = aCase({}, { equals: "yes" });

/** A schema of so many parts. */
function schemaOf(parts: number, name: string): object {
  const names = Array.from({ length: parts - 2 }, (_, index) => `${name}${index}`);
  return { type: "object", properties: Object.fromEntries(names.map((each) => [each, {}])) };
}

/** What is wrong in cases, and where the answer says so. */
const WRONG_CASES: readonly [what: string, cases: () => AgentCase[], paths: string[]][] = [
  ["no cases", () => [], ["cases"]],
  ["51 cases", () => Array.from({ length: 51 }, () => GOOD), ["cases"]],
  [
    "cases of more than 2 MiB together",
    () => Array.from({ length: 3 }, () => aCase({ text: "x".repeat(800_000) }, { equals: 1 })),
    ["cases"],
  ],
  ["input that is no JSON", () => [{ ...GOOD, inputJson: "{" }], ["cases.0.input"]],
  ["input that is no object", () => [GOOD, { ...GOOD, inputJson: "[]" }], ["cases.1.input"]],
  [
    "input with a NUL",
    () => [{ ...GOOD, inputJson: String.raw`{"a":"\u0000"}` }],
    ["cases.0.input"],
  ],
  [
    "input that nests too deep",
    () => [{ ...GOOD, inputJson: `{"a":${"[".repeat(70)}${"]".repeat(70)}}` }],
    ["cases.0.input"],
  ],
  [
    "input of more than 1 MiB",
    () => [aCase({ text: "x".repeat(1_048_576) }, { equals: 1 })],
    ["cases.0.input"],
  ],
  ["a name that is too long", () => [{ ...GOOD, name: "n".repeat(256) }], ["cases.0.name"]],
  [
    "a message that is too long",
    () => [{ ...GOOD, userMessage: "m".repeat(100_001) }],
    ["cases.0.userMessage"],
  ],
  ["no expectation", () => [{ ...GOOD, expect: undefined }], ["cases.0.expect"]],
  [
    "an expected value that is no JSON",
    () => [{ ...GOOD, expect: { $case: "equalsJson", value: "1,2" } }],
    ["cases.0.expect.equals"],
  ],
  [
    "an expected value that is missing",
    () => [{ ...GOOD, expect: { $case: "equalsJson", value: "" } }],
    ["cases.0.expect.equals"],
  ],
  [
    "a schema that is none",
    () => [GOOD, aCase({}, { schema: { properties: { a: { type: "txt" } } } })],
    ["cases.1.expect.schema.properties.a.type"],
  ],
  [
    "a schema that is too large",
    () => [aCase({}, { schema: schemaOf(401, "a") })],
    ["cases.0.expect.schema"],
  ],
  [
    "schemas that are too large together",
    () => ["a", "b", "c", "d", "e", "f"].map((name) => aCase({}, { schema: schemaOf(400, name) })),
    ["cases.5.expect.schema"],
  ],
  [
    "an expression that is none",
    () => [GOOD, aCase({}, { expression: "output = " }), GOOD],
    ["cases.1.expect.expression"],
  ],
  ["an empty expression", () => [aCase({}, { expression: "" })], ["cases.0.expect.expression"]],
  [
    "an expression that is too long",
    () => [aCase({}, { expression: `"${"x".repeat(16_384)}"` })],
    ["cases.0.expect.expression"],
  ],
  [
    "expressions that are too long together",
    () =>
      Array.from({ length: 17 }, (_, index) =>
        aCase({}, { expression: `${100 + index}${" ".repeat(16_381)}` }),
      ),
    ["cases.16.expect.expression"],
  ],
  [
    "several wrong things",
    () => [
      { ...GOOD, inputJson: "null", name: "n".repeat(256) },
      { ...GOOD, expect: undefined },
    ],
    ["cases.0.name", "cases.0.input", "cases.1.expect"],
  ],
];

const NO_OVERRIDES = { temperature: undefined, maxTokens: undefined, model: undefined };
const WRONG_SETTINGS: readonly [path: string, more: Partial<EvaluateAgentRequest>][] = [
  ["overrides.temperature", { overrides: { ...NO_OVERRIDES, temperature: 3 } }],
  ["overrides.maxTokens", { overrides: { ...NO_OVERRIDES, maxTokens: 0 } }],
  ["overrides.model", { overrides: { ...NO_OVERRIDES, model: "gpt-other" } }],
  ["systemPrompt", { systemPrompt: "" }],
  ["systemPrompt", { systemPrompt: "p".repeat(100_001) }],
];

describe("an evaluation is refused before anything is asked, and says where it is wrong:", () => {
  it.each(WRONG_CASES)("%s", async (_, cases, paths) => {
    const error = await errorOf(
      client.evaluateAgent(evaluation(agentId, cases()), { identity: author }),
    );
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path.join("."))).toEqual(paths);
  });

  it("the same wrong expression in several cases", async () => {
    const wrong = aCase({}, { expression: "$(" });
    const error = await errorOf(
      client.evaluateAgent(evaluation(agentId, [wrong, GOOD, wrong]), { identity: author }),
    );
    expect(error.violations.map(({ path }) => path.join("."))).toEqual([
      "cases.0.expect.expression",
      "cases.2.expect.expression",
    ]);
    expect(error.violations[0]?.message).toMatch(/^is not valid JSONata at character \d+:/);
  });

  it("inputs that a core agent does not take", async () => {
    const cases = [
      aCase({ document: "Invoice 7", fields: ["number"] }, { schema: {} }),
      aCase({ document: 7, fields: ["number"] }, { schema: {} }),
    ];
    const error = await errorOf(
      client.evaluateAgent(evaluation("agent_extraction", cases), { identity: author }),
    );
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map(({ path }) => path.join("."))).toEqual(["cases.1.input.document"]);
  });

  it.each(WRONG_SETTINGS)("%s out of its limits", async (path, more) => {
    const request = evaluation(agentId, [GOOD, GOOD], more);
    const error = await errorOf(client.evaluateAgent(request, { identity: author }));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations.map((violation) => violation.path.join("."))).toEqual([path]);
  });
});

describe("an evaluation is refused", () => {
  it("for an agent that is deprecated, unknown, malformed or of another company", async () => {
    const deprecated = await makeAgent(client, author);
    await client.deleteAgent({ agentId: deprecated }, { identity: author });
    const evaluate = (id: string, identity = author) =>
      errorOf(client.evaluateAgent(evaluation(id, [GOOD]), { identity }));
    expect(await evaluate(deprecated)).toMatchObject({
      reason: "BAD_REQUEST",
      message: expect.stringContaining("deprecated"),
    });
    expect(await evaluate("0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63")).toMatchObject({
      reason: "NOT_FOUND",
      message: "Agent not found",
    });
    expect(await evaluate("agent_unknown")).toMatchObject({ reason: "NOT_FOUND" });
    expect(await evaluate(agentId, newAuthor())).toMatchObject({ reason: "NOT_FOUND" });
  });

  it("without the scope to execute", async () => {
    const identity = { ...author, scopes: ["workflows:read", "workflows:write"] };
    const error = await errorOf(client.evaluateAgent(evaluation(agentId, [GOOD]), { identity }));
    expect(error.reason).toBe("FORBIDDEN");
  });

  it("while the provider's key is not set, and says which setting that is", async () => {
    const claude = await makeAgent(client, author, { provider: "anthropic" });
    const error = await errorOf(
      client.evaluateAgent(evaluation(claude, [GOOD]), { identity: author }),
    );
    expect(error.reason).toBe("NOT_CONFIGURED");
    expect(error.message).toContain("ANTHROPIC_API_KEY");
  });
});
