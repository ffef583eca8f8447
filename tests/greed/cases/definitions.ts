import { repeat, tally } from "../support/client.ts";
import type { Reply } from "../support/client.ts";
import type { Greed, GreedCase } from "../support/greed-case.ts";

/** Unlike in every definition, so that nothing that was found out before helps. */
let serial = 0;

function approvals(count: number, patterns: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const properties = Object.fromEntries(
      Array.from({ length: patterns }, (_none, field) => {
        serial += 1;
        return [`p${field}`, { pattern: `[a-z]{1000}${serial.toString(36)}` }];
      }),
    );
    const config = { message: "m", form: { properties } };
    return { id: `a${index}`, type: "approval", name: "a", config };
  });
}

function expressions(count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    serial += 1;
    // JSONata parses this in quadratic time: some 0.6 s each.
    const expression = `a${"@$a.b".repeat(3_260)}.c${serial}`;
    return { id: `t${index}`, type: "transform", name: "t", config: { expression } };
  });
}

async function createMany(
  { client, signal }: Greed,
  amount: { times: number; width: number },
  steps: () => object[],
): Promise<string> {
  const replies: Reply[] = [];
  await repeat({ ...amount, signal }, async () => {
    const body = { name: "Greedy", trigger: { type: "api" }, steps: steps() };
    replies.push(await client.call("POST", "/workflows", body));
  });
  return tally(replies);
}

/** Definitions whose patterns take gigabytes when each has a budget of its own. */
export const forms: GreedCase = {
  id: "forms",
  title: "560 approval forms of 45 patterns each, twenty times, four at once",
  timeMs: { short: 6_000, full: 60_000 },
  run: (greed) =>
    createMany(
      greed,
      { times: greed.form === "full" ? 20 : 3, width: greed.form === "full" ? 4 : 2 },
      () => approvals(560, 45),
    ),
};

/** Definitions whose expressions take long to be parsed. */
export const longExpressions: GreedCase = {
  id: "expressions",
  title: "63 expressions of 16 KB, and as many as a definition may hold, ten times, four at once",
  timeMs: { short: 6_000, full: 90_000 },
  run: (greed) =>
    createMany(
      greed,
      { times: greed.form === "full" ? 10 : 2, width: greed.form === "full" ? 4 : 2 },
      () => expressions(serial % 2 === 0 ? 63 : 15),
    ),
};

/** Conditions whose patterns come with the input. */
export const inputPatterns: GreedCase = {
  id: "input-patterns",
  title: "500 conditions with a pattern each from the input, ten runs at once",
  timeMs: { short: 6_000, full: 60_000 },
  async run({ client, form, signal }) {
    const steps = Array.from({ length: 500 }, (_, index) => ({
      id: `m${index}`,
      type: "transform",
      name: "m",
      when: { left: "text", operator: "matches", right: `{{input.patterns[${index}]}}` },
      config: { mapping: 1 },
    }));
    const workflowId = await client.activate("Patterns", steps);
    const replies: Reply[] = [];
    const amount = form === "full" ? { times: 40, width: 10 } : { times: 2, width: 2 };
    await repeat({ ...amount, signal }, async (run) => {
      const patterns = steps.map((_, index) => `[a-z]{1000}y${run}.${index}`);
      const body = { input: { patterns }, mode: "sync", onFailure: "switch_to_async" };
      replies.push(await client.call("POST", `/workflows/${workflowId}/run`, body));
    });
    return tally(replies);
  },
};

/** Dry runs of a definition that takes long to look at. */
export const plans: GreedCase = {
  id: "plans",
  title: "plan of 400 steps with patterns from the input, over and over, sixteen at once",
  timeMs: { short: 2_500, full: 30_000 },
  async run({ client, form, signal }) {
    const steps = Array.from({ length: 400 }, (_, index) => ({
      id: `m${index}`,
      type: "transform",
      name: "m",
      when: { left: "text", operator: "matches", right: `{{input.patterns[${index}]}}` },
      config: { mapping: { all: "{{input}}" } },
    }));
    const workflowId = await client.activate("Planned", steps);
    const replies: Reply[] = [];
    const amount = { times: Number.POSITIVE_INFINITY, width: form === "full" ? 16 : 4 };
    await repeat({ ...amount, signal }, async (turn) => {
      const patterns = steps.map((_, index) => `[a-z]{1000}z${turn}.${index}`);
      const body = { input: { patterns } };
      replies.push(await client.call("POST", `/workflows/${workflowId}/plan`, body));
    });
    return tally(replies);
  },
};
