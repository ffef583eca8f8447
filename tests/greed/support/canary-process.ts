import { z } from "zod";
import { createClient } from "./client.ts";
import type { Client } from "./client.ts";

/* A company that reads and runs at a steady, small rate. Started by canary.ts. */

/** One read and one run in so long, whatever became of those before. */
const PACE_MS = 150;
/** The most that are under way; more would be greed. */
const UNANSWERED_MAX = 40;
const PATIENCE_MS = 30_000;

let seen = { reads: new Array<number>(), runs: new Array<number>(), failures: new Array<string>() };
let unanswered = 0;

const company = z.object({ baseUrl: z.string(), apiKey: z.string() });

process.once("message", (message) => {
  const { baseUrl, apiKey } = company.parse(message);
  void begin(createClient(baseUrl, apiKey));
});
process.once("disconnect", () => process.exit());

async function begin(client: Client): Promise<void> {
  const mapping = { text: "Hello {{input.name}}" };
  const steps = [{ id: "hello", type: "transform", name: "hello", config: { mapping } }];
  const workflowId = await client.activate("Canary", steps);
  process.on("message", () => {
    process.send?.(seen);
    seen = { reads: [], runs: [], failures: [] };
  });
  process.send?.("started");
  const reads = [`/workflows/${workflowId}`, `/workflows/${workflowId}/runs?limit=10`];
  let turn = 0;
  setInterval(() => {
    if (unanswered >= UNANSWERED_MAX) return;
    turn += 1;
    const path = reads[turn % reads.length] ?? "/workflows";
    void observe("reads", () => client.call("GET", path, undefined, patience()), isRead);
    const body = { input: { name: "Ada" }, mode: "sync" };
    const start = () => client.call("POST", `/workflows/${workflowId}/run`, body, patience());
    void observe("runs", start, isCompleted);
  }, PACE_MS);
}

type Reply = Awaited<ReturnType<Client["call"]>>;

async function observe(
  kind: "reads" | "runs",
  call: () => Promise<Reply>,
  isRight: (reply: Reply) => boolean,
): Promise<void> {
  const startedAt = performance.now();
  unanswered += 1;
  try {
    const reply = await call();
    if (!isRight(reply)) {
      seen.failures.push(`${kind}: ${reply.status} ${JSON.stringify(reply.error ?? reply.data)}`);
    }
  } catch (error) {
    seen.failures.push(`${kind}: ${String(error)}`);
  } finally {
    unanswered -= 1;
    // Also what failed took its time.
    seen[kind].push(performance.now() - startedAt);
  }
}

function isRead({ status }: Reply): boolean {
  return status === 200;
}

/** A run that was not over in time was answered, but it was not synchronous. */
function isCompleted({ status, data }: Reply): boolean {
  return status === 200 && data["status"] === "completed";
}

function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}
