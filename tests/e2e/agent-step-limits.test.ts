import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { saidTo, startAskingSystem } from "../support/asking-system.ts";
import type { AskingSystem } from "../support/asking-system.ts";
import { dumpTables } from "../support/dump-tables.ts";
import {
  createActive,
  getRun,
  postRun,
  runIdOf,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import type { Run } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";

let logged = "";

let system: AskingSystem;
let openai: ModelDouble;
let ask: AskingSystem["ask"];
let run: AskingSystem["run"];
let executionsOf: AskingSystem["executionsOf"];

beforeAll(async () => {
  system = await startAskingSystem({ log: { write: (line) => (logged += line) } });
  ({ openai, ask, run, executionsOf } = system);
});
beforeEach(() => {
  openai.asked.length = 0;
  openai.script.length = 0;
  openai.reply = () => "The answer.";
});
afterAll(() => system.stop());

const hungUp = () => waitFor(() => openai.asked[0]?.hungUp === true);

describe("an agent step that is given up", () => {
  const never = (): Promise<string> => new Promise(() => {});

  it("ends the request to the provider when the run is cancelled", async () => {
    openai.reply = never;
    const runId = await startRun(system, await createActive(system, { steps: [ask()] }));
    await waitFor(() => openai.asked.length === 1);
    expect(await system.call("POST", `/runs/${runId}/cancel`)).toMatchObject({ status: 200 });
    await hungUp();
    expect((await getRun(system, runId)).status).toBe("cancelled");
    const executions = await waitFor(async () => {
      const found = await executionsOf(runId);
      return found[0]?.status === "running" ? null : found;
    });
    expect(executions).toEqual([expect.objectContaining({ status: "cancelled" })]);
  });

  it("ends it when its own time is over, and asks anew where it may", async () => {
    openai.reply = () => (openai.asked.length > 1 ? "In time" : never());
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1 };
    const ended = await run([ask({}, { timeoutMs: 5_000, retry })]);
    await hungUp();
    expect(ended).toMatchObject({
      status: "completed",
      output: "In time",
      stepResults: [{ attempt: 2, previousAttempts: [{ error: { code: "TIMEOUT" } }] }],
    });
  });

  it("ends it when a step beside it has decided", async () => {
    openai.reply = (asked) => (saidTo(asked).includes("slow") ? never() : "Quick");
    const beside = (id: string, text: string) => ({
      id,
      steps: [{ ...ask({ input: { text } }), id: `ask-${id}` }],
    });
    const config = { branches: [beside("a", "slow"), beside("b", "fast")], strategy: "wait-any" };
    const ended = await run([{ id: "race", type: "parallel", name: "race", config }]);
    expect(ended.status).toBe("completed");
    await waitFor(() => openai.asked.find((asked) => saidTo(asked).includes("slow"))?.hungUp);
  });

  it("ends it when the time of the run is over", async () => {
    openai.reply = never;
    const ended = await run([ask()], {}, { settings: { timeoutMs: 5_000 } });
    expect(ended.status).toBe("timeout");
    await hungUp();
  });
});

describe("an agent step whose provider takes too long", () => {
  it("gives up that exchange and asks again by its policy", async () => {
    const hasty = await startWholeSystem({ agents: { openai, timeoutMs: 3_000 } });
    try {
      openai.script.push({ trouble: "hangs" });
      const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1 };
      const step = ask({ agentId: "agent_content", input: { context: "Hello" } }, { retry });
      const ended = await runToEnd(hasty, await createActive(hasty, { steps: [step] }));
      expect(ended.stepResults).toMatchObject([
        { attempt: 2, previousAttempts: [{ error: { code: "AGENT_TIMEOUT" } }] },
      ]);
      await hungUp();
    } finally {
      await hasty.stop();
    }
  });
});

describe("an agent step with a secret in its question", () => {
  const SECRET = "s3cret/Value+42";
  /** Stands plain in the input of runs. */
  const BOUND = "b0und/Value+43";

  async function withSecret(steps: readonly object[], more: object = {}): Promise<string> {
    const workflowId = await createActive(system, { steps });
    const body = { key: "TOKEN", value: SECRET, ...more };
    const answer = await system.call("POST", `/workflows/${workflowId}/secrets`, { body });
    expect(answer.status).toBe(200);
    return workflowId;
  }

  it("gives it to the model, and to no record", async () => {
    openai.reply = (asked) => `I was told ${saidTo(asked)} and ${encodeURIComponent(SECRET)}`;
    const steps = [
      ask({ input: { token: "{{secrets.TOKEN}}" }, userMessage: "Use {{secrets.TOKEN}}." }),
    ];
    const ended = await runToEnd(system, await withSecret(steps));
    expect(saidTo(openai.asked[0])).toContain(SECRET);
    expect(ended).toMatchObject({
      status: "completed",
      stepResults: [{ input: { input: { token: "••••" }, userMessage: "Use ••••." } }],
    });
    const [execution] = await executionsOf(ended.id);
    expect(execution).toMatchObject({ input: { token: "••••" }, userMessage: "Use ••••." });
    expect(logged).toContain("ExecuteAgentStep");
    const tables = await dumpTables(system.database);
    const shown = JSON.stringify([ended, execution, tables]) + logged;
    for (const form of [SECRET, encodeURIComponent(SECRET)]) expect(shown).not.toContain(form);
  });

  it("keeps it out of records where the model has it from elsewhere", async () => {
    openai.script.push(`I happen to know ${SECRET}`);
    const use = transform("use", { token: "{{secrets.TOKEN}}" });
    const ended = await runToEnd(system, await withSecret([use, ask()]));
    expect(ended.output).toBe("I happen to know ••••");
    const [execution] = await executionsOf(ended.id);
    expect(execution).toMatchObject({ output: "I happen to know ••••" });
    expect(JSON.stringify(execution)).not.toContain(SECRET);
  });

  it("leaves out the id that it would be part of", async () => {
    const id = "b{{secrets.TOKEN}}";
    const ended = await runToEnd(
      system,
      await withSecret([ask({ agentId: id })], { value: "zqx" }),
    );
    expect(ended.error).toMatchObject({ code: "AGENT_NOT_FOUND" });
    expect(JSON.stringify(ended.error)).not.toContain("zqx");
  });

  it("leaves out what the provider says of it", async () => {
    openai.script.push({
      trouble: "server-error",
      message: `Odd: ${SECRET.split("").toReversed().join("")}`,
    });
    const ended = await runToEnd(
      system,
      await withSecret([ask({ input: { token: "{{secrets.TOKEN}}" } })]),
    );
    expect(ended.error).toMatchObject({ code: "AGENT_UNAVAILABLE", details: { status: 500 } });
    expect(ended.error?.message).not.toContain("Odd");
  });

  it.each([
    ["a template names it", { input: { token: "{{secrets.TOKEN}}" } }],
    ["it came with the input", { input: { token: "{{input.text}}" }, userMessage: "Hello" }],
    ["it came with the input, in another form", { userMessage: "{{input.encoded}}" }],
  ])("does not ask with one that is bound to hosts: %s", async (_, config) => {
    const use = { id: "use", when: { left: 1, operator: "equals", right: 2 } };
    const bound = { ...use, type: "action", name: "use", action: "http.request" };
    const request = { method: "GET", url: "https://a.example/{{secrets.TOKEN}}" };
    const workflowId = await withSecret([{ ...bound, config: request }, ask(config)], {
      value: BOUND,
      allowedHosts: ["a.example"],
    });
    const input = { text: BOUND, encoded: Buffer.from(BOUND).toString("base64") };
    const answer = await postRun(system, workflowId, { input });
    const ended = await waitForRun(system, runIdOf(answer));
    expect(ended.error?.code).toBe("SECRET_HOST_NOT_ALLOWED");
    expect(openai.asked).toEqual([]);
  });
});

describe("a company whose agents have used their tokens of the day", () => {
  it("has its agent steps fail without another try, and others' go on", async () => {
    const usage = { inputTokens: 60, outputTokens: 60 };
    openai.reply = () => ({ text: "Long", usage });
    const small = await startWholeSystem({ agents: { openai, tokensPerDay: 100 } });
    try {
      const step = {
        ...ask({ agentId: "agent_content", input: { subject: "Hello" } }),
        retry: { maxAttempts: 3, delayMs: 1 },
        onError: "continue",
      };
      const runOf = async (key: string): Promise<Run> => {
        const workflowId = await createActive(small, { steps: [step] }, { key });
        const started = await postRun(small, workflowId, { input: {} }, { key });
        return waitForRun(small, runIdOf(started), undefined, { key });
      };
      await runOf(small.acme.key);
      const asked = openai.asked.length;
      const second = await runOf(small.acme.key);
      expect(second.stepResults[0]).toMatchObject({
        attempt: 1,
        error: {
          code: "AGENT_QUOTA",
          details: { limit: "agentTokens", tokensPerDay: 100, resetsAt: expect.any(String) },
        },
      });
      expect(openai.asked).toHaveLength(asked);
      await runOf(small.globex.key);
      expect(openai.asked.length).toBeGreaterThan(asked);
    } finally {
      await small.stop();
    }
  });
});
