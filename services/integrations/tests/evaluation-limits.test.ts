import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import {
  aCase,
  evaluation,
  makeAgent,
  newAuthor,
  onlyResult,
  startEvaluationHarness,
} from "./support/evaluation-harness.ts";
import type { AgentsClient, EvaluationHarness } from "./support/evaluation-harness.ts";
import { errorOf } from "./support/harness.ts";

let harness: EvaluationHarness;
let client: AgentsClient;
let author: Identity;

beforeAll(async () => {
  harness = await startEvaluationHarness();
  client = await harness.start();
});
beforeEach(() => {
  author = newAuthor();
  harness.openai.asked.length = 0;
  harness.openai.script.length = 0;
  harness.openai.reply = () => "yes";
});
afterAll(() => harness.close());

describe("the time of an evaluation", () => {
  it("ends cases that have no answer by then and those that were not asked, not the others", async () => {
    const hasty = await harness.start({ evaluationTimeoutMs: 4_000 });
    const agentId = await makeAgent(hasty, author);
    harness.openai.reply = ({ messages }) =>
      messages[0]?.text.includes("slow") === true ? { trouble: "hangs" } : "yes";
    const texts = ["fast", "slow", "slow", "slow", "slow", "slow", "late"];
    const cases = texts.map((text) => aCase({ text }, { equals: "yes" }));
    const { results } = await hasty.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    expect(results.map(({ passed, error }) => error?.code ?? passed)).toEqual([
      true,
      ...Array.from({ length: 6 }, () => "AGENT_TIMEOUT"),
    ]);
    expect(results[1]?.reason).toBe("The evaluation took longer than 4 s: this case was given up.");
    expect(results[6]?.reason).toBe(
      "The evaluation took longer than 4 s: this case was not asked.",
    );
    await waitFor(() => harness.openai.asked.filter(({ hungUp }) => hungUp).length === 5);
  });

  it("ends with its caller, whose requests to the provider end as well", async () => {
    const agentId = await makeAgent(client, author);
    harness.openai.reply = () => ({ trouble: "hangs" });
    const cases = Array.from({ length: 9 }, () => aCase({}, { equals: "yes" }));
    const leaving = new AbortController();
    const call = client.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
      signal: leaving.signal,
    });
    await waitFor(() => harness.openai.asked.length === 5);
    leaving.abort();
    expect(await errorOf(call)).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => harness.openai.asked.every(({ hungUp }) => hungUp));
    harness.openai.reply = () => "yes";
    const next = await waitForPlace(() =>
      client.evaluateAgent(evaluation(agentId, [aCase({}, { equals: "yes" })]), {
        identity: author,
      }),
    );
    expect(onlyResult(next).passed).toBe(true);
    expect(harness.openai.asked).toHaveLength(6);
  });
});

/** The server may not have noticed yet that an evaluation has ended. */
async function waitForPlace<Result>(call: () => Promise<Result>): Promise<Result> {
  let result: Result | undefined;
  await waitFor(async () => {
    result = await call().catch(() => undefined);
    return result !== undefined;
  });
  if (result === undefined) throw new Error("There was no place.");
  return result;
}

describe("the limits of a company", () => {
  it("are one evaluation at a time, whatever others have under way", async () => {
    const other = newAuthor();
    const agentId = await makeAgent(client, author);
    const otherAgentId = await makeAgent(client, other);
    const cases = [aCase({}, { equals: "yes" })];
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    harness.openai.reply = async () => {
      await finished;
      return "yes";
    };
    const first = client.evaluateAgent(evaluation(agentId, cases), { identity: author });
    await waitFor(() => harness.openai.asked.length === 1);
    const refused = await errorOf(
      client.evaluateAgent(evaluation(agentId, cases), { identity: author }),
    );
    expect(refused).toMatchObject({ reason: "RATE_LIMITED", details: { limit: "evaluations" } });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    const another = client.evaluateAgent(evaluation(otherAgentId, cases), { identity: other });
    await waitFor(() => harness.openai.asked.length === 2);
    finish();
    expect(onlyResult(await first).passed).toBe(true);
    expect(onlyResult(await another).passed).toBe(true);
    const next = await client.evaluateAgent(evaluation(agentId, cases), { identity: author });
    expect(onlyResult(next).passed).toBe(true);
  });

  it("are its tokens of the day: cases after they are used up are not asked", async () => {
    const limited = await harness.start({ agentCalls: { tokensPerDay: 1_000 } });
    const agentId = await makeAgent(limited, author, { maxTokens: 100 });
    harness.openai.reply = () => ({ text: "yes", usage: { inputTokens: 90, outputTokens: 10 } });
    const cases = Array.from({ length: 30 }, () => aCase({}, { equals: "yes" }));
    const { results } = await limited.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    const asked = results.filter(({ passed }) => passed).length;
    expect(asked).toBeGreaterThanOrEqual(10);
    // What is left admits a call: those that are under way then may go beyond.
    expect(asked).toBeLessThan(15);
    expect(harness.openai.asked).toHaveLength(asked);
    const refused = results.filter(({ passed }) => !passed);
    expect(refused.map(({ error }) => error?.code)).toEqual(
      Array.from({ length: 30 - asked }, () => "AGENT_QUOTA"),
    );
    expect(JSON.parse(refused[0]?.error?.detailsJson ?? "")).toMatchObject({
      limit: "agentTokens",
      tokensPerDay: 1_000,
    });

    const nothingLeft = await errorOf(
      limited.evaluateAgent(evaluation(agentId, cases), { identity: author }),
    );
    expect(nothingLeft).toMatchObject({
      reason: "RATE_LIMITED",
      details: { limit: "agentTokens" },
    });
  });
});

describe("the evaluations of all companies", () => {
  it("are sixteen at a time in a process; who comes then is told to come again", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
    harness.openai.reply = () => answered;
    const cases = [aCase({}, { equals: "yes" })];
    const evaluate = async (identity: Identity) => {
      const agentId = await makeAgent(client, identity);
      return client.evaluateAgent(evaluation(agentId, cases), { identity });
    };
    const underWay = Array.from({ length: 16 }, () => evaluate(newAuthor()));
    await waitFor(() => harness.openai.asked.length === 16);
    const refused = await errorOf(evaluate(author));
    expect(refused).toMatchObject({ reason: "UNAVAILABLE" });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    answer("yes");
    for (const each of await Promise.all(underWay)) expect(onlyResult(each).passed).toBe(true);
    expect(onlyResult(await evaluate(author)).passed).toBe(true);
  });
});
