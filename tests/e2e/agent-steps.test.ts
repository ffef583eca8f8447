import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { ModelDouble } from "@workflow/testkit";
import { makeAgent } from "../support/agents.ts";
import { saidTo, startAskingSystem } from "../support/asking-system.ts";
import type { AskingSystem } from "../support/asking-system.ts";
import { createActive, runToEnd, transform } from "../support/scenarios.ts";
import { AGENT_MODELS } from "../support/whole-system.ts";

const INVOICE = '{"label":"invoice","amount":12.5}';

let system: AskingSystem;
let openai: ModelDouble;
let ask: AskingSystem["ask"];
let run: AskingSystem["run"];
let executionsOf: AskingSystem["executionsOf"];

beforeAll(async () => {
  system = await startAskingSystem();
  ({ openai, ask, run, executionsOf } = system);
});
beforeEach(() => {
  openai.asked.length = 0;
  openai.script.length = 0;
  openai.reply = () => "The answer.";
});
afterAll(() => system.stop());

const sort = (config: object = {}, more: object = {}) =>
  ask({ agentId: system.sorterId, ...config }, more);

describe("an agent step", () => {
  it("has the agent's answer as its output, typed, for later steps", async () => {
    openai.script.push(INVOICE);
    const ended = await run([sort(), transform("after", { sum: "{{steps.ask.output.amount}}" })]);
    expect(ended).toMatchObject({
      status: "completed",
      output: { sum: 12.5 },
      stepResults: [
        {
          type: "agent",
          input: { agentId: system.sorterId, input: { text: "Hi" } },
          output: { label: "invoice", amount: 12.5 },
        },
        {},
      ],
    });
    expect(openai.asked).toHaveLength(1);
  });

  it("has a text where the agent has no output schema", async () => {
    openai.script.push("Dear Ada");
    const ended = await run([ask({ userMessage: "Write to {{input.text}}" })], { text: "Ada" });
    expect(ended.output).toBe("Dear Ada");
    expect(saidTo(openai.asked[0])).toContain("Write to Ada");
  });

  it("asks core agents too", async () => {
    const answer = {
      decision: "escalate",
      confidence: 0.9,
      reasoning: "The amount is large.",
      factors: [],
      alternatives: [],
      needsReview: false,
      missingInformation: [],
    };
    openai.script.push(JSON.stringify(answer));
    const input = { data: "{{input}}", options: ["escalate", "approve"] };
    const ended = await run([ask({ agentId: "agent_decision", input })]);
    expect(ended).toMatchObject({ status: "completed", output: answer });
  });

  it("is recorded as an execution of the agent, under its run", async () => {
    const ended = await run([ask({ userMessage: "Be brief." })]);
    expect(await executionsOf(ended.id)).toEqual([
      expect.objectContaining({
        id: expect.stringMatching(/^aex_/),
        agentId: system.writerId,
        status: "completed",
        workflowRunId: ended.id,
        input: { text: "Hi" },
        userMessage: "Be brief.",
        output: "The answer.",
        schemaValid: true,
      }),
    ]);
  });

  it("replaces settings of the agent, by templates as well", async () => {
    const overrides = {
      temperature: "{{input.temperature}}",
      maxTokens: 77,
      model: AGENT_MODELS.openai,
    };
    await run([ask({ overrides })], { text: "Hi", temperature: 0.25 });
    expect(openai.asked[0]?.body).toMatchObject({ temperature: 0.25 });
    expect(JSON.stringify(openai.asked[0]?.body)).toContain("77");
  });

  it("asks once for each iteration of a loop and each item of a parallel step", async () => {
    openai.reply = (asked) => `About ${/item-\d/.exec(saidTo(asked))?.[0]}`;
    const inside = ask({ input: { text: "{{loop.item}}" } });
    const ended = await run([
      {
        id: "one",
        type: "loop",
        name: "one",
        config: { items: ["item-1", "item-2"], steps: [{ ...inside, id: "a" }] },
      },
      {
        id: "all",
        type: "parallel",
        name: "all",
        config: { forEach: ["item-3", "item-4"], steps: [{ ...inside, id: "b" }] },
      },
      transform("end", { one: "{{steps.one.output}}", all: "{{steps.all.output}}" }),
    ]);
    expect(ended.output).toEqual({
      one: ["About item-1", "About item-2"],
      all: ["About item-3", "About item-4"],
    });
    expect(openai.asked).toHaveLength(4);
    expect(await executionsOf(ended.id)).toHaveLength(4);
  });

  it("is asked by nobody when a workflow is planned", async () => {
    const workflowId = await createActive(system, { steps: [ask()] });
    const answer = await system.call("POST", `/workflows/${workflowId}/plan`, {
      body: { input: { text: "Hi" } },
    });
    expect(answer.status).toBe(200);
    expect(openai.asked).toEqual([]);
  });
});

describe("an agent step whose provider is in trouble", () => {
  const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 1 };

  it("is tried again by its policy, after as long as the provider asks for", async () => {
    openai.script.push(
      { trouble: "rate-limited", headers: { "retry-after": "1" } },
      { trouble: "server-error" },
      INVOICE,
    );
    const ended = await run([sort({}, { retry })]);
    expect(ended).toMatchObject({
      status: "completed",
      stepResults: [
        {
          attempt: 3,
          previousAttempts: [
            { error: { code: "AGENT_RATE_LIMITED", details: { provider: "openai", status: 429 } } },
            { error: { code: "AGENT_UNAVAILABLE", details: { provider: "openai", status: 500 } } },
          ],
        },
      ],
    });
    const [first, second] = openai.asked.map(({ receivedAt }) => receivedAt.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(950);
    expect(openai.asked).toHaveLength(3);
    expect((await executionsOf(ended.id, system.sorterId)).map(({ status }) => status)).toEqual([
      "completed",
      "failed",
      "failed",
    ]);
  });

  it("is asked once without a policy", async () => {
    openai.script.push({ trouble: "overloaded" });
    const ended = await run([ask()]);
    expect(ended).toMatchObject({ status: "failed", error: { code: "AGENT_UNAVAILABLE" } });
    expect(openai.asked).toHaveLength(1);
  });

  it("is not tried again where the provider refuses", async () => {
    openai.script.push({ trouble: "unauthorized" });
    const ended = await run([ask({}, { retry })]);
    expect(ended).toMatchObject({ status: "failed", error: { code: "AGENT_REFUSED" } });
    expect(openai.asked).toHaveLength(1);
  });

  it("tells of an answer that does not fit even when the model was told twice, and where it is", async () => {
    openai.reply = () => '{"label":7}';
    const ended = await run([sort({}, { retry })]);
    expect(openai.asked).toHaveLength(3);
    const [execution, ...others] = await executionsOf(ended.id, system.sorterId);
    expect(others).toEqual([]);
    expect(execution).toMatchObject({
      status: "failed",
      schemaValid: false,
      repairAttempts: 2,
      rawOutput: '{"label":7}',
    });
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "AGENT_OUTPUT_INVALID", details: { executionId: execution?.id } },
      stepResults: [{ attempt: 1 }],
    });
  });

  it("lets the run go on where it says so, with the error for later steps", async () => {
    openai.script.push({ trouble: "server-error" });
    const ended = await run([
      ask({}, { onError: "continue" }),
      transform("after", { code: "{{steps.ask.error.code}}" }),
    ]);
    expect(ended).toMatchObject({
      status: "completed",
      output: { code: "AGENT_UNAVAILABLE" },
    });
  });
});

describe("an agent step that cannot be asked", () => {
  it.each([
    ["an unknown id", () => "00000000-0000-7000-8000-000000000000"],
    ["an id of the wrong form", () => "nobody"],
    ["another company's", () => makeAgent(system, system.globex.key)],
  ])("fails with AGENT_NOT_FOUND: %s", async (_, agentId) => {
    const ended = await run([ask({ agentId: "{{input.agentId}}" })], { agentId: await agentId() });
    expect(ended).toMatchObject({ status: "failed", error: { code: "AGENT_NOT_FOUND" } });
  });

  it("fails with AGENT_DEPRECATED for an agent that was deleted", async () => {
    const agentId = await makeAgent(system, system.acme.key);
    const workflowId = await createActive(system, { steps: [ask({ agentId })] });
    expect((await runToEnd(system, workflowId)).status).toBe("completed");
    expect(await system.call("DELETE", `/agents/${agentId}`)).toMatchObject({ status: 200 });
    const ended = await runToEnd(system, workflowId);
    expect(ended).toMatchObject({ status: "failed", error: { code: "AGENT_DEPRECATED" } });
    expect(openai.asked).toHaveLength(1);
  });

  it("names the setting that is missing", async () => {
    const agentId = await makeAgent(system, system.acme.key, { provider: "anthropic" });
    const ended = await run([ask({ agentId })]);
    expect(ended.error).toMatchObject({
      code: "NOT_CONFIGURED",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  it.each<[object, object, string]>([
    [{ input: "{{input.text}}" }, { text: "no object" }, "input"],
    [{ userMessage: "{{input.text}}" }, { text: 7 }, "userMessage"],
    [{ overrides: { temperature: "{{input.text}}" } }, { text: 3 }, "overrides.temperature"],
    [{ overrides: { model: "{{input.text}}" } }, { text: "gpt-2" }, "overrides.model"],
    [
      { agentId: "agent_extraction", input: { document: "{{input.text}}" } },
      { text: 7 },
      "input.document",
    ],
  ])("names what is wrong with its config: %#", async (config, input, path) => {
    const ended = await run([ask(config, { retry: { maxAttempts: 3, delayMs: 1 } })], input);
    expect(ended).toMatchObject({
      error: {
        code: "INVALID_INPUT",
        details: { problems: [expect.objectContaining({ path: path.split(".") })] },
      },
      stepResults: [{ attempt: 1 }],
    });
    expect(openai.asked).toEqual([]);
  });
});
