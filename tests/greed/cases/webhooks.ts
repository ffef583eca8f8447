import { z } from "zod";
import { repeat, tally } from "../support/client.ts";
import type { Client, Reply } from "../support/client.ts";
import type { Greed, GreedCase } from "../support/greed-case.ts";

const STEPS = [{ id: "note", type: "transform", name: "note", config: { mapping: "{{input}}" } }];
const WIDTH = 16;
/** Longer than an attempt may take. */
const NEVER_MS = 60_000;

const ENDPOINTS = { short: 30, full: 1_000 };
const ENDED_RUNS = { short: 20, full: 200 };
const DELIVERING_MS = { short: 2_000, full: 60_000 };

/** Every end of a run goes to receivers that do not answer. */
export const deadEndpoints: GreedCase = {
  id: "dead-endpoints",
  title: "1,000 endpoints whose receivers never answer, and 200 runs that end",
  timeMs: { short: 15_000, full: 120_000 },
  async prepare(greed) {
    await makeEndpoints(greed, ENDPOINTS[greed.form]);
  },
  async run({ client, form, rest, signal }) {
    const workflowId = await client.activate("Delivered", STEPS);
    const replies: Reply[] = [];
    await repeat({ times: ENDED_RUNS[form], width: WIDTH, signal }, async () => {
      replies.push(await client.call("POST", `/workflows/${workflowId}/run`, {}));
    });
    await rest(DELIVERING_MS[form]);
    await client.call("DELETE", `/workflows/${workflowId}`);
    await deleteEndpoints(client);
    return `runs ${tally(replies)}, each to ${ENDPOINTS[form]} endpoints`;
  },
};

const POSTS = { short: 500, full: 10_000 };
const POSTS_AT_ONCE = 32;
const BODY = JSON.stringify({ text: "x".repeat(10_000) });

/** Strangers who try paths, or a sender whose workflow is gone. */
export const unknownPaths: GreedCase = {
  id: "unknown-paths",
  title: "10,000 inbound events of 10 kB to paths that nobody waits for",
  timeMs: { short: 15_000, full: 90_000 },
  async run({ client, companyId, form, signal }) {
    const replies: Pick<Reply, "status" | "error">[] = [];
    await repeat({ times: POSTS[form], width: POSTS_AT_ONCE, signal }, async (index) => {
      const status = await post(`${client.origin}/webhooks/custom/${companyId}/try-${index}`, BODY);
      replies.push({ status, error: null });
    });
    return `events ${tally(replies)}`;
  },
};

const REPLAYS = { short: 50, full: 1_000 };

/** One event, again and again. */
export const replays: GreedCase = {
  id: "replays",
  title: "1,000 replays of an event that starts a run",
  timeMs: { short: 15_000, full: 90_000 },
  async run({ client, companyId, form, signal }) {
    const trigger = { type: "webhook", path: "replayed" };
    const workflowId = await client.activate("Replayed", STEPS, { trigger });
    await post(`${client.origin}/webhooks/custom/${companyId}/replayed`, BODY);
    const { items } = await client.must("GET", "/webhook-events?status=processed&limit=1");
    const [event] = z.array(z.object({ id: z.string() })).parse(items);
    const replies: Reply[] = [];
    await repeat({ times: REPLAYS[form], width: WIDTH, signal }, async () => {
      replies.push(await client.call("POST", `/webhook-events/${event?.id}/replay`));
    });
    await client.call("DELETE", `/workflows/${workflowId}`);
    return `replays ${tally(replies)}`;
  },
};

const TESTS = { short: 40, full: 1_000 };
const TESTING_MS = { short: 2_000, full: 45_000 };

/** Test calls hold a request open for as long as the receiver takes. */
export const testCalls: GreedCase = {
  id: "test-calls",
  title: "1,000 test calls at once of an endpoint whose receiver never answers",
  timeMs: { short: 25_000, full: 90_000 },
  async prepare(greed) {
    await makeEndpoints(greed, 1);
  },
  async run({ client, form, rest }) {
    const [endpointId] = await listEndpoints(client);
    const replies: Reply[] = [];
    let unanswered = 0;
    const stopping = new AbortController();
    const path = `/webhook-endpoints/${endpointId}/test`;
    const calls = Array.from({ length: TESTS[form] }, () =>
      client.call("POST", path, {}, stopping.signal).then(
        (reply) => replies.push(reply),
        () => (unanswered += 1),
      ),
    );
    await rest(TESTING_MS[form]);
    stopping.abort();
    await Promise.all(calls);
    await deleteEndpoints(client);
    return `tests ${tally(replies)}, ${unanswered} still waiting`;
  },
};

async function makeEndpoints({ client, receiver, signal }: Greed, count: number): Promise<void> {
  await repeat({ times: count, width: WIDTH, signal }, (index) =>
    client.must("POST", "/webhook-endpoints", {
      name: `Endpoint ${index}`,
      url: receiver.slowUrl(NEVER_MS),
    }),
  );
}

async function listEndpoints(client: Client): Promise<string[]> {
  const { items } = await client.must("GET", "/webhook-endpoints?limit=100");
  return z
    .array(z.object({ id: z.string() }))
    .parse(items)
    .map(({ id }) => id);
}

async function deleteEndpoints(client: Client): Promise<void> {
  const signal = new AbortController().signal;
  for (;;) {
    const ids = await listEndpoints(client);
    if (ids.length === 0) return;
    await repeat({ times: ids.length, width: WIDTH, signal }, (index) =>
      client.call("DELETE", `/webhook-endpoints/${ids[index]}`),
    );
  }
}

/** Sends an inbound event; returns the answer's status. */
async function post(url: string, body: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}
