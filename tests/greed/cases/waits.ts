import { request } from "node:http";
import { createRpcClient } from "@workflow/rpc";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { cancelAll } from "../support/client.ts";
import type { Client } from "../support/client.ts";
import type { Greed, GreedCase } from "../support/greed-case.ts";

const LONG_MS = 600_000;

/** A run that does nothing for ten minutes. */
async function startLongRun(client: Client): Promise<{ workflowId: string; runId: string }> {
  const config = { durationMs: LONG_MS };
  const workflowId = await client.activate("Long", [
    { id: "rest", type: "delay", name: "rest", config },
  ]);
  const { data } = await client.start(workflowId);
  return { workflowId, runId: String(data["runId"]) };
}

const WATCHERS = { short: 100, full: 5_000 };
const WATCH_MS = { short: 1_500, full: 30_000 };

/** Everybody watches one run: half of them over SSE, half over gRPC. */
export const watchers: GreedCase = {
  id: "watchers",
  title: "10,000 watchers of a run, half of them over SSE, half over gRPC",
  timeMs: { short: 10_000, full: 120_000 },
  async run(greed) {
    const { client, form, rest, signal } = greed;
    const { workflowId, runId } = await startLongRun(client);
    const stopping = new AbortController();
    const sse = watchOverSse(greed, runId, WATCHERS[form], stopping.signal);
    const grpc = await watchOverGrpc(greed, runId, WATCHERS[form], stopping.signal);
    await rest(WATCH_MS[form]);
    const told = `SSE ${inWords(sse)}; gRPC ${inWords(grpc)}`;
    stopping.abort();
    await cancelAll(client, workflowId, signal);
    return told;
  },
};

/** How many have which state. */
type Counts = Map<string, number>;

function count(counts: Counts, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function inWords(counts: Counts): string {
  return Array.from(counts, ([name, number]) => `${number} × ${name}`).join(", ") || "nothing";
}

function watchOverSse(
  { client }: Greed,
  runId: string,
  watching: number,
  signal: AbortSignal,
): Counts {
  const counts: Counts = new Map();
  for (let index = 0; index < watching; index += 1) {
    const headers = { "x-api-key": client.apiKey, accept: "text/event-stream" };
    const sent = request(`${client.origin}/api/v1/runs/${runId}/events`, { headers, signal });
    sent.once("response", (response) => {
      count(counts, String(response.statusCode));
      response.on("error", () => {}).resume();
    });
    sent.on("error", () => {
      if (!signal.aborted) count(counts, "no answer");
    });
    sent.end();
  }
  return counts;
}

async function watchOverGrpc(
  { runsGrpcAddress, mintToken }: Greed,
  runId: string,
  watching: number,
  signal: AbortSignal,
): Promise<Counts> {
  const counts: Counts = new Map();
  const token = await mintToken();
  const runs = createRpcClient(RunsServiceService, { address: runsGrpcAddress });
  const options = { token, signal, timeoutMs: LONG_MS };
  const watch = async (): Promise<void> => {
    let seen = false;
    try {
      for await (const _ of runs.watchRun({ runId, after: undefined }, options)) {
        if (!seen) count(counts, "watching");
        seen = true;
      }
    } catch (error) {
      if (!signal.aborted) count(counts, error instanceof Error ? error.message : "failed");
    }
  };
  for (let index = 0; index < watching; index += 1) void watch();
  signal.addEventListener("abort", () => runs.close());
  return counts;
}

const WAITS = { short: 60, full: 500 };
const WAIT_MS = { short: 1_500, full: 40_000 };

/** Callers who wait as long as they may for runs that take longer. */
export const syncWaits: GreedCase = {
  id: "sync-waits",
  title: "500 synchronous starts that wait 300 s",
  timeMs: { short: 8_000, full: 90_000 },
  async run({ client, form, rest, signal }) {
    const { workflowId } = await startLongRun(client);
    const stopping = new AbortController();
    const counts: Counts = new Map();
    const body = { mode: "sync", maxExecutionTimeMs: 300_000 };
    for (let index = 0; index < WAITS[form]; index += 1) {
      client.call("POST", `/workflows/${workflowId}/run`, body, stopping.signal).then(
        ({ status, error }) => count(counts, error === null ? String(status) : error.code),
        () => count(counts, stopping.signal.aborted ? "still waiting" : "no answer"),
      );
    }
    await rest(WAIT_MS[form]);
    stopping.abort();
    await cancelAll(client, workflowId, signal);
    return inWords(counts);
  },
};
