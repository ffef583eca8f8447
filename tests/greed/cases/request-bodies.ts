import { cancelAll } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

const RUNS = { short: 5, full: 50 };
const ITEMS = 100;
const INPUT_CHARS = 900_000;
const BUSY_MS = { short: 5_000, full: 30_000 };
const ANSWER_MS = 10_000;

/** Bodies that would fill the memory of whoever held all of them until they are answered (D57). */
export const requestBodies: GreedCase = {
  id: "request-bodies",
  title: "5,000 requests at once with bodies of 900 kB, to a host that takes 10 s",
  timeMs: { short: 20_000, full: 120_000 },
  async run({ client, form, receiver, signal, rest }) {
    const request = { method: "POST", url: receiver.slowUrl(ANSWER_MS), body: { is: "{{input}}" } };
    const send = { id: "send", type: "action", name: "send", action: "http.request" };
    const config = {
      forEach: Array.from({ length: ITEMS }, (_, index) => index),
      steps: [{ ...send, config: request }],
    };
    const workflowId = await client.activate("Send", [
      { id: "all", type: "parallel", name: "all", config },
    ]);
    const input = { text: "x".repeat(INPUT_CHARS) };
    for (let run = 0; run < RUNS[form] && !signal.aborted; run += 1) {
      await client.start(workflowId, { input });
    }
    await rest(BUSY_MS[form]);
    await cancelAll(client, workflowId, signal);
    return `${RUNS[form] * ITEMS} requests were under way or waited`;
  },
};
