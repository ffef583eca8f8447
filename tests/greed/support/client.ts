import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { z } from "zod";

/** An answer of the service; a body beyond the limit is counted, not kept. */
export interface Reply {
  status: number;
  bytes: number;
  ms: number;
  /** The data of the envelope where it is an object. */
  data: Readonly<Record<string, unknown>>;
  /** The data where it is a list. */
  items: readonly unknown[];
  error: { code: string; message: string } | null;
}

/** A client of one company. */
export interface Client {
  origin: string;
  apiKey: string;
  call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Reply>;
  /**
   * As `call`, for requests that have to succeed and may happen twice. A request with the answer 503 is repeated,
   * as callers do. Rejects with any other answer, and after a minute.
   */
  must(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Starts one run under a key with which the request may be repeated. Rejects as `must`. */
  start(workflowId: string, body?: object): Promise<Reply>;
  /** Makes and activates a workflow; returns its id. */
  activate(name: string, steps: readonly unknown[], more?: object): Promise<string>;
  close(): void;
}

const envelope = z.object({
  data: z.union([z.looseObject({}), z.array(z.unknown())]).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
const KEPT_BYTES_MAX = 1024 * 1024;
const PATIENCE_MS = 60_000;

/** A client that opens a connection for each concurrent call. */
export function createClient(baseUrl: string, apiKey: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const client: Client = {
    origin: new URL(baseUrl).origin,
    apiKey,
    call: (method, path, body, signal) =>
      call({ agent, url: baseUrl + path, apiKey }, { method, body, signal }),
    async must(method, path, body) {
      const giveUpAt = performance.now() + PATIENCE_MS;
      for (;;) {
        const reply = await client.call(method, path, body);
        const { status, error } = reply;
        if (status < 400) return reply;
        if (status !== 503 || performance.now() > giveUpAt) {
          throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(error)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    start: (workflowId, body = {}) =>
      client.must("POST", `/workflows/${workflowId}/run`, {
        ...body,
        idempotencyKey: randomUUID(),
      }),
    async activate(name, steps, more = {}) {
      const definition = { name, trigger: { type: "api" }, steps, ...more };
      const id = String((await client.must("POST", "/workflows", definition)).data["id"]);
      await untilActive(client, `/workflows/${id}`);
      return id;
    },
    close: () => agent.destroy(),
  };
  return client;
}

/** Activates a workflow. An activation that was answered with 503 may have been recorded, and is refused then. */
async function untilActive(client: Client, path: string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const { status, error } = await client.call("POST", `${path}/activate`, {});
    if (status < 400) return;
    if (status !== 503 || performance.now() > giveUpAt) {
      throw new Error(`POST ${path}/activate answered ${status}: ${JSON.stringify(error)}`);
    }
    const { data } = await client.must("GET", path);
    if (data["status"] === "active") return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Sends one request on a connection of its own, or on one that is free. */
function call(
  { agent, url, apiKey }: { agent: Agent; url: string; apiKey: string },
  { method, body, signal }: { method: string; body: unknown; signal: AbortSignal | undefined },
): Promise<Reply> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    "x-api-key": apiKey,
    ...(content === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
  };
  const options = { agent, method, headers, ...(signal === undefined ? {} : { signal }) };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const take = (response: IncomingMessage): void => {
      void readReply(response, startedAt).then(resolve, reject);
    };
    const send = (): void => {
      const sent = request(url, options, take);
      sent.once("error", (error) => {
        // The gateway closes idle connections: a request on such a connection never reached it.
        if (sent.reusedSocket && isReset(error)) send();
        else reject(error);
      });
      sent.end(content);
    };
    send();
  });
}

/** Reads an answer to its end; a body of more than KEPT_BYTES_MAX is only counted. */
async function readReply(response: IncomingMessage, startedAt: number): Promise<Reply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    if (bytes < KEPT_BYTES_MAX) chunks.push(chunk);
    bytes += chunk.length;
  });
  await once(response, "end");
  const ms = performance.now() - startedAt;
  const status = response.statusCode ?? 0;
  const kept = bytes <= KEPT_BYTES_MAX ? parse(Buffer.concat(chunks).toString()) : {};
  const { data = {}, error = null } = kept;
  const parts = Array.isArray(data) ? { data: {}, items: data } : { data, items: [] };
  return { status, bytes, ms, ...parts, error };
}

function isReset(error: Error): boolean {
  return "code" in error && error.code === "ECONNRESET";
}

function parse(text: string): z.output<typeof envelope> {
  if (text === "") return {};
  return envelope.parse(JSON.parse(text));
}

/**
 * Does something a number of times, `width` at once, until the signal is aborted; returns how often it was done.
 */
export async function repeat(
  { times, width, signal }: { times: number; width: number; signal: AbortSignal },
  action: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    while (next < times && !signal.aborted) {
      const index = next;
      next += 1;
      await action(index);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return done;
}

/** The number of each of some things: `3 × 200, 1 × 429 RATE_LIMITED`. */
export function tally(replies: readonly Pick<Reply, "status" | "error">[]): string {
  const counts = new Map<string, number>();
  for (const { status, error } of replies) {
    const name = error === null ? String(status) : `${status} ${error.code}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Array.from(counts, ([name, count]) => `${count} × ${name}`).join(", ") || "nothing";
}

const listedRun = z.object({
  id: z.string(),
  status: z.string(),
  error: z.object({ code: z.string() }).nullish(),
});
type ListedRun = z.output<typeof listedRun>;
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);
const LOOK_MS = 100;

/** Waits until a workflow's last run is over, or the case; returns the run's state then. */
export async function lastRun(
  client: Client,
  workflowId: string,
  signal: AbortSignal,
): Promise<ListedRun> {
  for (;;) {
    const { items } = await client.must("GET", `/workflows/${workflowId}/runs?limit=1`);
    const run = listedRun.parse(items[0]);
    if (ENDED.has(run.status) || signal.aborted) return run;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The state of a run, in words. */
export function inWords({ status, error }: ListedRun): string {
  return error === null || error === undefined ? status : `${status} ${error.code}`;
}

/** Takes a workflow out of use and cancels its runs under way, as far as the case has time. */
export async function cancelAll(
  client: Client,
  workflowId: string,
  signal: AbortSignal,
): Promise<void> {
  await client.call("DELETE", `/workflows/${workflowId}`);
  while (!signal.aborted) {
    const body = { action: "cancel", filter: { workflowId, status: "active" } };
    const { data, status } = await client.call("POST", "/runs/bulk", body);
    const { results } = z.object({ results: z.array(z.unknown()).default([]) }).parse(data);
    if (status !== 200 || results.length === 0) return;
  }
}
