import { inWords, lastRun, tally } from "../support/client.ts";
import type { GreedCase } from "../support/greed-case.ts";

const BYTES = 3_000_000;
const CALLS = { short: 8, full: 300 };
const READERS = { short: 2, full: 8 };

const SMALL = { id: "small", type: "transform", name: "small", config: { mapping: 1 } };

/** A run as large as HTTP answers can make it, and callers who read it (D56). */
export const largeRun: GreedCase = {
  id: "large-run",
  title: "a run of 300 × 3 MB HTTP answers, read by eight at once",
  timeMs: { short: 12_000, full: 120_000 },
  async run({ client, form, receiver, signal }) {
    const url = receiver.largeUrl(BYTES);
    const call = { id: "get", type: "action", name: "get", action: "http.request" };
    const steps = [
      {
        id: "all",
        type: "loop",
        name: "all",
        config: {
          count: CALLS[form],
          // The loop's own output holds what its last steps have: something small.
          steps: [{ ...call, config: { method: "GET", url } }, SMALL],
        },
      },
      // It has to be taken up again with everything that it has.
      { id: "rest", type: "delay", name: "rest", config: { durationMs: 1_000 } },
    ];
    const workflowId = await client.activate("Large", steps);
    await client.start(workflowId);
    const run = await lastRun(client, workflowId, signal);
    const paths = [`/runs/${run.id}`, `/runs/${run.id}/logs`];
    const replies = await Promise.all(
      Array.from({ length: READERS[form] }, (_, index) =>
        client.call("GET", paths[index % paths.length] ?? ""),
      ),
    );
    const largest = Math.max(...replies.map(({ bytes }) => bytes)) / 1024 / 1024;
    await client.call("POST", `/runs/${run.id}/cancel`);
    return `${inWords(run)}; read ${tally(replies)}, at most ${largest.toFixed(1)} MiB`;
  },
};
