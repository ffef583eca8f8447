import { cancelAll } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

const RUNS = { short: 5, full: 100 };
const ITEMS = 100;
const INPUT_CHARS = 900_000;
const BUSY_MS = { short: 5_000, full: 30_000 };

/** Questions that would fill the memory of whoever held all of them (D57). */
export const agentQuestions: GreedCase = {
  id: "agent-questions",
  title: "10,000 agent steps at once with inputs of 900 kB, of a provider that takes 10 s",
  timeMs: { short: 20_000, full: 120_000 },
  async run({ client, form, signal, rest }) {
    const body = { name: `Greedy ${Date.now()}`, type: "custom", systemPrompt: "Be brief." };
    const { id: agentId } = (await client.must("POST", "/agents", body)).data;
    const ask = { id: "ask", type: "agent", name: "ask", config: { agentId, input: "{{input}}" } };
    const config = { forEach: Array.from({ length: ITEMS }, (_, index) => index), steps: [ask] };
    const workflowId = await client.activate("Ask", [
      { id: "all", type: "parallel", name: "all", config },
    ]);
    const input = { text: "x".repeat(INPUT_CHARS) };
    for (let run = 0; run < RUNS[form] && !signal.aborted; run += 1) {
      await client.start(workflowId, { input });
    }
    await rest(BUSY_MS[form]);
    const { items } = await client.must("GET", `/agents/${String(agentId)}/executions?limit=100`);
    await cancelAll(client, workflowId, signal);
    return `${items.length} questions were asked`;
  },
};
