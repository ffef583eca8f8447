import { cancelAll, repeat, tally } from "../support/client.ts";
import type { Reply } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

const RUNS = { short: 400, full: 20_000 };
const WIDTH = { short: 32, full: 128 };
const BUSY_MS = { short: 2_000, full: 30_000 };

/** A backlog of runs that each hold a slot for half a second (D57). */
export const dueRuns: GreedCase = {
  id: "due-runs",
  title: "20,000 due runs of 500 ms calls",
  timeMs: { short: 10_000, full: 90_000 },
  async run({ client, form, receiver, signal, rest }) {
    const config = { method: "GET", url: receiver.slowUrl(500) };
    const steps = [{ id: "call", type: "action", name: "call", action: "http.request", config }];
    const workflowId = await client.activate("Due", steps);
    const replies: Reply[] = [];
    await repeat({ times: RUNS[form], width: WIDTH[form], signal }, async () => {
      replies.push(await client.call("POST", `/workflows/${workflowId}/run`, {}));
    });
    await rest(BUSY_MS[form]);
    await cancelAll(client, workflowId, signal);
    return `started ${tally(replies)}`;
  },
};
