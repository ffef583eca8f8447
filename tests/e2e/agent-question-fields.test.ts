import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { makeAgent } from "../support/agents.ts";
import type { Answer } from "../support/api-client.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** How an agent is asked by callers other than steps. */
const VERBS = ["execute", "test", "evaluate"] as const;
type Verb = (typeof VERBS)[number];

const INPUT = { document: "Invoice 7" };

let openai: ModelDouble;
let system: WholeSystem;
let agentId: string;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  system = await startWholeSystem({ agents: { openai } });
  agentId = await makeAgent(system, system.acme.key, { temperature: 0.9, maxTokens: 500 });
});
beforeEach(() => {
  openai.asked.length = 0;
  openai.reply = () => "Yes.";
});
afterAll(async () => {
  await system.stop();
  await openai.close();
});

const post = (verb: Verb, body: object): Promise<Answer> =>
  system.call("POST", `/agents/${agentId}/${verb}`, { body });

/** Asks with overrides, whatever a question of this kind needs besides. */
function override(verb: Verb, overrides: unknown): Promise<Answer> {
  const cases = [{ input: INPUT, expect: { equals: "Yes." } }];
  return post(verb, verb === "evaluate" ? { cases, overrides } : { input: INPUT, overrides });
}

describe.each(VERBS)("the overrides of %s", (verb) => {
  it("take the place of the agent's settings", async () => {
    const answer = await override(verb, { temperature: 0.1, maxTokens: 77 });
    expect(answer.status).toBe(200);
    expect(openai.asked).toHaveLength(1);
    expect(openai.asked[0]?.body).toMatchObject({ temperature: 0.1, max_tokens: 77 });
  });

  it("may be null, all of them or each: then the agent's settings hold", async () => {
    for (const none of [null, {}, { temperature: null, maxTokens: null, model: null }]) {
      expect(await override(verb, none)).toMatchObject({ status: 200 });
      expect(openai.asked.at(-1)?.body).toMatchObject({ temperature: 0.9, max_tokens: 500 });
    }
  });

  it.each<[string, unknown, string]>([
    ["no object", 1, "overrides"],
    ["no number", { maxTokens: "9" }, "overrides.maxTokens"],
    ["too few tokens", { maxTokens: 0 }, "overrides.maxTokens"],
    ["too many tokens", { maxTokens: 1e12 }, "overrides.maxTokens"],
    ["a part of a token", { maxTokens: 1.5 }, "overrides.maxTokens"],
    ["a temperature below zero", { temperature: -1 }, "overrides.temperature"],
    ["a temperature above two", { temperature: 2.1 }, "overrides.temperature"],
    ["another's model", { model: "gpt-1" }, "overrides.model"],
  ])("are refused by name: %s", async (_what, overrides, field) => {
    const { status, error } = await override(verb, overrides);
    expect({ status, code: error?.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
    expect(error?.details).toEqual([{ path: field.split("."), message: expect.any(String) }]);
    expect(openai.asked).toEqual([]);
  });

  it.each(["temprature", "provider", "systemPrompt"])(
    "are refused for a member that there is not: %s",
    async (member) => {
      const { status, error } = await override(verb, { temperature: 0, [member]: 0 });
      expect(status).toBe(400);
      const message = `has only temperature, maxTokens and model, not ${member}`;
      expect(error?.details).toEqual([{ path: ["overrides"], message }]);
      expect(openai.asked).toEqual([]);
    },
  );
});

describe("a question", () => {
  it("takes null for what it need not have, as records show it", async () => {
    const more = { userMessage: null, workflowRunId: null, overrides: null };
    const executed = await post("execute", { input: INPUT, ...more });
    expect(executed).toMatchObject({
      status: 200,
      data: { userMessage: null, workflowRunId: null },
    });
    expect(await post("test", { input: INPUT, ...more })).toMatchObject({ status: 200 });
    const each = { name: null, input: INPUT, userMessage: null, expect: { equals: "Yes." } };
    expect(await post("evaluate", { cases: [each], systemPrompt: null })).toMatchObject({
      status: 200,
      data: { passed: 1 },
    });
  });

  it("has a message of 100,000 characters, however many units each has", async () => {
    const userMessage = "\u{1F98A}".repeat(60_000);
    expect(await post("execute", { input: INPUT, userMessage })).toMatchObject({ status: 200 });
    expect(await post("test", { input: INPUT, userMessage })).toMatchObject({ status: 200 });
  });

  it.each<[string, object, string]>([
    ["no input", {}, "input"],
    ["an input that is no object", { input: [] }, "input"],
    ["a message that is no text", { input: {}, userMessage: 7 }, "userMessage"],
    ["a message too long", { input: {}, userMessage: "x".repeat(100_001) }, "userMessage"],
  ])("is refused by name: %s", async (_what, body, field) => {
    for (const verb of ["execute", "test"] as const) {
      const { status, error } = await post(verb, body);
      expect({ status, code: error?.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
      expect(error?.details).toEqual([{ path: [field], message: expect.any(String) }]);
    }
  });

  it("is refused for a run id that is too long", async () => {
    const workflowRunId = "x".repeat(129);
    expect(await post("execute", { input: {}, workflowRunId })).toMatchObject({
      status: 400,
      error: { details: [{ path: ["workflowRunId"] }] },
    });
  });

  it("finds the agent by its id in capitals, in the record as well", async () => {
    const path = `/agents/${agentId.toUpperCase()}`;
    const executed = await system.call("POST", `${path}/execute`, { body: { input: INPUT } });
    expect(executed).toMatchObject({ status: 200, data: { agentId } });
    const { id } = Object(executed.data);
    const read = await system.call("GET", `${path}/executions/${id}`);
    expect(read).toMatchObject({ status: 200, data: { id, agentId } });
  });
});
