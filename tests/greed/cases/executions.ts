import { cancelAll, inWords, lastRun, repeat, tally } from "../support/client.ts";
import type { Reply } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

const ENDLESS = "($f := function($n) { $f($n + 1) }; $f(0))";

/** Expressions that never end by themselves. */
export const slowExpressions: GreedCase = {
  id: "slow-expressions",
  title: "30 slow expressions at once, four times",
  timeMs: { short: 6_000, full: 90_000 },
  async run({ client, form, signal }) {
    const config = { expression: ENDLESS };
    const steps = [{ id: "slow", type: "transform", name: "slow", config }];
    const workflowId = await client.activate("Slow", steps);
    const replies: Reply[] = [];
    const amount = form === "full" ? { times: 120, width: 30 } : { times: 3, width: 3 };
    const body = { mode: "sync", onFailure: "switch_to_async", maxExecutionTimeMs: 60_000 };
    await repeat({ ...amount, signal }, async () => {
      replies.push(await client.call("POST", `/workflows/${workflowId}/run`, body));
    });
    await cancelAll(client, workflowId, signal);
    return tally(replies);
  },
};

const ITEMS = { short: 500, full: 10_000 };

/** A restart that forgets what thousands of branches did. */
export const restartInForEach: GreedCase = {
  id: "restart-in-for-each",
  title: "restart inside a forEach of 10,000, five times",
  timeMs: { short: 12_000, full: 120_000 },
  async run({ client, form, signal }) {
    const child = { id: "child", type: "transform", name: "child", config: { mapping: 1 } };
    const steps = [
      {
        id: "par",
        type: "parallel",
        name: "par",
        config: { forEach: "{{input.items}}", steps: [child] },
      },
    ];
    const workflowId = await client.activate("Many", steps);
    const items = Array.from({ length: ITEMS[form] }, (_, index) => index);
    await client.start(workflowId, { input: { items } });
    const first = await lastRun(client, workflowId, signal);
    const restarts = await Promise.all(
      Array.from({ length: form === "full" ? 5 : 2 }, () =>
        client.call("POST", `/runs/${first.id}/restart`, { fromStepId: "par[0].child" }),
      ),
    );
    const last = await lastRun(client, workflowId, signal);
    await cancelAll(client, workflowId, signal);
    return `${inWords(first)}; restarts ${tally(restarts)}, the last ${inWords(last)}`;
  },
};

const FORK_MS = { short: 1_500, full: 45_000 };

/** A workflow that starts itself twice (D60). */
export const forkBomb: GreedCase = {
  id: "fork-bomb",
  title: "a workflow that starts itself twice",
  timeMs: { short: 12_000, full: 90_000 },
  async run({ client, form, rest, signal }) {
    const workflowId = await client.activate("Fork", [
      { id: "first", type: "transform", name: "first", config: { mapping: 1 } },
    ]);
    const again = (id: string) => ({
      id,
      type: "workflow",
      name: id,
      config: { workflowId, wait: false },
    });
    await client.must("PUT", `/workflows/${workflowId}`, { steps: [again("a"), again("b")] });
    const start = await client.call("POST", `/workflows/${workflowId}/run`, {});
    await rest(FORK_MS[form]);
    await cancelAll(client, workflowId, signal);
    return `started ${tally([start])}`;
  },
};
