import { repeat, tally } from "../support/client.ts";
import type { Reply } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

/** Unlike in every evaluation, so that nothing that was found out before helps. */
let serial = 0;

function largeSchema(): object {
  serial += 1;
  const names = Array.from({ length: 390 }, (_, index) => `p${serial}x${index}`);
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

function longExpression(): string {
  serial += 1;
  // JSONata parses this in quadratic time: some 0.6 s each.
  return `a${"@$a.b".repeat(3_260)}.c${serial}`;
}

/** As much as the cases of an evaluation may be to check; nobody is asked, for the last one is wrong. */
function cases(): object[] {
  const input = { text: "x".repeat(30_000) };
  const schemas = Array.from({ length: 5 }, () => ({ input, expect: { schema: largeSchema() } }));
  const expressions = Array.from({ length: 16 }, () => ({
    input,
    expect: { expression: longExpression() },
  }));
  return [...schemas, ...expressions, { input, expect: { expression: "wrong (" } }];
}

/** So that the next one begins as soon as the last has ended, and each is tried. */
const AGAIN_MS = 250;

/** Evaluations of agents that are all work and cost no token. */
export const evaluations: GreedCase = {
  id: "evaluations",
  title: "1,000 evaluations of an agent that take long to be refused, 20 at once",
  timeMs: { short: 8_000, full: 90_000 },
  async run({ client, form, rest, signal }) {
    const { data } = await client.must("POST", "/agents", {
      name: `Greedy ${serial}`,
      type: "custom",
      systemPrompt: "Answer.",
    });
    const path = `/agents/${String(data["id"])}/evaluate`;
    const replies: Reply[] = [];
    const amount = form === "full" ? { times: 1_000, width: 20 } : { times: 60, width: 10 };
    await repeat({ ...amount, signal }, async () => {
      const reply = await client.call("POST", path, { cases: cases() });
      replies.push(reply);
      if (reply.status === 429) await rest(AGAIN_MS);
    });
    return tally(replies);
  },
};
