import { Agent, request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import autocannon from "autocannon";
import type { Client } from "autocannon";
import { loadJob } from "./load-protocol.ts";
import type { LoadJob, LoadRequest, LoadResult } from "./load-protocol.ts";
import { percentile } from "./statistics.ts";

/**
 * The load generator: a process of its own that shares no event loop with the measured system. The process takes
 * one job at a time from its parent and ends with the parent.
 */
process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  run(loadJob.parse(message)).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

const TIMEOUT_S = 30;
/** The greatest error of timers; the code waits for the rest of the time without sleeping. */
const TIMER_SLACK_MS = 2;

function run(job: LoadJob): Promise<LoadResult> {
  return job.model === "closed" ? runClosed(job) : runOpen(job);
}

/** Collects answers. */
class Tally {
  readonly #startedAt = performance.now();
  readonly #latencies: number[] = [];
  #lastAt = this.#startedAt;
  #failed = 0;
  #failure: string | undefined;

  answered(status: number, latencyMs: number): void {
    if (status < 200 || status > 299) return this.failed(`status ${status}`);
    this.#latencies.push(latencyMs);
    this.#lastAt = performance.now();
  }

  failed(failure: string): void {
    this.#failed += 1;
    this.#failure ??= failure;
  }

  result(): LoadResult {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const seconds = (this.#lastAt - this.#startedAt) / 1000;
    return {
      succeeded: sorted.length,
      failed: this.#failed,
      failure: this.#failure,
      perSecond: seconds > 0 ? sorted.length / seconds : 0,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
    };
  }
}

async function runClosed(job: Extract<LoadJob, { model: "closed" }>): Promise<LoadResult> {
  const { stop, connections, request, variety } = job;
  const limits =
    "afterMs" in stop
      ? { duration: stop.afterMs / 1000 }
      : { amount: stop.afterRequests, connections: Math.min(connections, stop.afterRequests) };
  const tally = new Tally();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The histogram of autocannon has whole milliseconds, and its duration whole ticks: both are too coarse.
  const instance = autocannon(
    {
      ...request,
      idReplacement: request.idReplacement ?? false,
      connections,
      timeout: TIMEOUT_S,
      sampleInt: 50,
      skipAggregateResult: true,
      ...limits,
      ...(variety === undefined ? {} : { setupClient: sharesOf(variety, connections) }),
    },
    (error: unknown) => (error === null ? resolve() : reject(error)),
  );
  instance.on("response", (_client, status, _bytes, latencyMs) => {
    tally.answered(status, latencyMs);
  });
  instance.on("reqError", (error: unknown) => tally.failed(String(error)));
  await promise;
  return tally.result();
}

/** Gives each connection its share of the requests. */
function sharesOf(requests: readonly LoadRequest[], connections: number) {
  const shared = requests.map(({ url, method, headers, body }) => {
    const { pathname, search } = new URL(url);
    return { method, path: pathname + search, headers, ...(body === undefined ? {} : { body }) };
  });
  let clients = 0;
  return (client: Client): void => {
    const place = clients % connections;
    clients += 1;
    client.setRequests(shared.filter((_, index) => index % connections === place));
  };
}

async function runOpen(job: Extract<LoadJob, { model: "open" }>): Promise<LoadResult> {
  const { ratePerSecond, durationMs, request } = job;
  const agent = new Agent({ keepAlive: true });
  const tally = new Tally();
  const count = Math.round((ratePerSecond * durationMs) / 1000);
  const startedAt = performance.now();
  const answers: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1000) / ratePerSecond;
    await waitUntil(dueAt);
    answers.push(
      send(request, agent).then(
        (status) => tally.answered(status, performance.now() - dueAt),
        (error: unknown) => tally.failed(String(error)),
      ),
    );
  }
  await Promise.all(answers);
  agent.destroy();
  return tally.result();
}

/** Timers are late by up to a millisecond, which would count as latency. */
async function waitUntil(time: number): Promise<void> {
  const sleepMs = time - performance.now() - TIMER_SLACK_MS;
  if (sleepMs > 0) await delay(sleepMs);
  while (performance.now() < time) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a request; resolves with the status after the whole answer. */
function send({ url, method, headers, body }: LoadRequest, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent, timeout: TIMEOUT_S * 1000 });
    request.once("timeout", () => request.destroy(new Error("timeout")));
    request.once("error", reject);
    request.once("response", (response) => {
      response.once("error", reject);
      response.once("end", () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    request.end(body);
  });
}
