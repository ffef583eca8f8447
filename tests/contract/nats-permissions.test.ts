import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { createNatsEventBus, createNatsSignals, PublishError, setUpNats } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";
import { EVENT_CONSUMERS as GATEWAY, ROUTES } from "@workflow/service-gateway";
import { EVENT_CONSUMERS as INTEGRATIONS } from "@workflow/service-integrations";
import { EVENT_CONSUMERS as RUNS } from "@workflow/service-runs";
import { EVENT_CONSUMERS as WEBHOOKS } from "@workflow/service-webhooks";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats } from "@workflow/testkit";
import { connect } from "nats";
import type { NatsConnection } from "nats";
import pino from "pino";

/*
 * deploy/nats on a real server: what each service does on the bus works with its own user, and nothing
 * else does.
 */

const ROOT = join(import.meta.dirname, "../..");
const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"] as const;
type Service = (typeof SERVICES)[number];

/** Streams by who publishes on them, beside the audit stream. */
const OWN_STREAM: Readonly<Partial<Record<Service, string>>> = {
  workflows: "workflows",
  runs: "runs",
  tables: "tables",
};
const CONSUMERS: Readonly<Partial<Record<Service, typeof GATEWAY>>> = {
  gateway: GATEWAY,
  integrations: INTEGRATIONS,
  runs: RUNS,
  webhooks: WEBHOOKS,
};
const STREAMS = ["audit", "runs", "tables", "workflows"];
/** The admin command loads the code of all services. */
const START_TIMEOUT_MS = 180_000;
/** Longer than a user without permission is told so. */
const REFUSAL_MS = 60_000;

const passwords = new Map<string, string>();
const buses = new Map<Service, EventBus>();
const logger = pino({ level: "silent" });
/** What became of an event before the streams were made, and what making them twice answered. */
let tooEarly: string[];
let setUps: unknown[];
let nats: LocalNats;
let actions: Map<Service, string[]>;

beforeAll(async () => {
  for (const user of ["setup", ...SERVICES]) {
    passwords.set(user, `p@ss/${randomBytes(8).toString("hex")}:%`);
  }
  const env = Object.fromEntries(
    // In quotes, as a text in the environment is read as a value of the configuration.
    [...passwords].map(([user, text]) => [`NATS_${user.toUpperCase()}_PASSWORD`, `"${text}"`]),
  );
  nats = await startLocalNats({
    file: join(ROOT, "deploy/nats/nats-server.conf"),
    env,
  });
  actions = await findAuditActions();
  for (const service of SERVICES) {
    const servers = urlOf(service);
    buses.set(service, createNatsEventBus({ servers, name: service, logger }));
  }
  tooEarly = await publish("tables", [event("tables", "table.row_created")]);
  const first = await setUp();
  const again = await setUpNats({ servers: urlOf("setup"), streams: { audit: [] }, replicas: 1 });
  setUps = [first, again];
}, START_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([...buses.values()].map((bus) => bus.close()));
  await nats.stop();
});

describe("a server with deploy/nats", () => {
  it("knows nobody without a password, or with another's", async () => {
    await expect(connect({ servers: nats.url })).rejects.toThrow(/Authorization/);
    const servers = nats.url.replace("://", "://x@");
    await expect(connect({ servers, user: "runs", pass: "wrong" })).rejects.toThrow(
      /Authorization/,
    );
  });

  it("lets no service make its stream; the admin command makes all that is missing", () => {
    expect(tooEarly).toEqual(["refused"]);
    expect(setUps[0]).toEqual({
      streams: expect.arrayContaining(STREAMS),
      consumers: expect.arrayContaining(
        Object.values(CONSUMERS).flatMap((consumers) =>
          Object.entries(consumers).flatMap(([stream, names]) =>
            names.map((name) => `${stream}.${name}`),
          ),
        ),
      ),
      deviations: [],
    });
    expect(setUps[1]).toEqual({ streams: [], consumers: [], deviations: [] });
  });

  it.each(SERVICES)("lets a service publish what it publishes: %s", async (service) => {
    const own = ownEvents(service);
    if (service !== "gateway" && service !== "webhooks") expect(own.length).toBeGreaterThan(0);
    expect(await publish(service, own)).toEqual([]);
  });

  it.each(SERVICES)("lets a service publish nothing of another's: %s", async (service) => {
    const own = new Set(ownEvents(service).map(subjectOf));
    const foreign = SERVICES.flatMap(ownEvents).filter((each) => !own.has(subjectOf(each)));
    expect(foreign.length).toBeGreaterThan(5);
    const before = await countMessages();
    // One at a time: an attempt that fails gives up what is behind it.
    for (const each of uniqueBySubject(foreign)) {
      expect([subjectOf(each), await publish(service, [each])]).toEqual([
        subjectOf(each),
        ["refused"],
      ]);
    }
    expect(await countMessages()).toEqual(before);
  });

  it.each(Object.keys(CONSUMERS))("lets a service consume what it consumes: %s", async (name) => {
    const service = serviceOf(name);
    for (const [stream, consumers] of Object.entries(CONSUMERS[service] ?? {})) {
      const publisher = SERVICES.find((each) => ownEvents(each).some((e) => e.stream === stream));
      const [fresh] = ownEvents(publisher ?? "webhooks").filter((e) => e.stream === stream);
      if (publisher === undefined || fresh === undefined) throw new Error(`Nobody: ${stream}`);
      for (const consumer of consumers) {
        const seen: string[] = [];
        const subscription = await busOf(service).subscribe({
          stream,
          consumer,
          handler: async ({ id }) => void seen.push(id),
        });
        expect(await publish(publisher, [fresh])).toEqual([]);
        await waitFor(() => seen.includes(fresh.id));
        await subscription.close();
        // Acknowledged: it is gone for the next one of this name.
        await waitFor(async () => (await pendingOf(stream, consumer)) === 0);
      }
    }
  });

  it("lets gateways speak with each other about limits", async () => {
    const heard: string[] = [];
    const open = (address: string) =>
      createNatsSignals({
        servers: urlOf("gateway"),
        name: "gateway",
        logger,
        group: "gateway-limits.x",
        address,
        onConnect: () => {},
        onMessage: (text) => void heard.push(`${address} ${text}`),
      });
    const [one, two] = [open("one"), open("two")];
    for (const signals of [one, two]) await signals.connected(AbortSignal.timeout(REFUSAL_MS));
    await waitFor(() => {
      one.send("two", "to two");
      two.send(null, "to all");
      return ["two to two", "one to all", "two to all"].every((each) => heard.includes(each));
    });
    await Promise.all([one.close(), two.close()]);
  });

  it.each(SERVICES)("lets a service read nothing else: %s", async (service) => {
    const own = CONSUMERS[service] ?? {};
    const pairs = STREAMS.flatMap((stream) =>
      [...allConsumers(stream), "mine"].map((consumer) => [stream, consumer] as const),
    ).filter(([stream, consumer]) => own[stream]?.includes(consumer) !== true);
    const requests = [
      ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`),
      ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.INFO.${stream}.${name}`),
      ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${name}`),
      ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.CREATE.${stream}.${name}`),
      ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.DELETE.${stream}.${name}`),
      ...pairs.map(([stream, name]) => `$JS.ACK.${stream}.${name}.1.1.1.1.0`),
      ...STREAMS.flatMap((stream) =>
        [
          "STREAM.CREATE",
          "STREAM.UPDATE",
          "STREAM.DELETE",
          "STREAM.PURGE",
          "STREAM.SNAPSHOT",
          "STREAM.RESTORE",
          "STREAM.MSG.GET",
          "STREAM.MSG.DELETE",
          "DIRECT.GET",
          "CONSUMER.CREATE",
          "CONSUMER.LIST",
          "CONSUMER.NAMES",
        ].map((verb) => `$JS.API.${verb}.${stream}`),
      ),
      "$JS.API.STREAM.CREATE.copy",
      "$JS.API.STREAM.NAMES",
      "$JS.API.STREAM.LIST",
      "$SYS.REQ.SERVER.PING",
      "_INBOX.runs.x",
      "_INBOX.setup.x",
      ...(service === "gateway" ? [] : ["gateway-limits.x.all"]),
    ].filter((subject) => subject !== `_INBOX.${service}.x`);
    const refused = await withUser(service, async (connection, refusals) => {
      for (const subject of requests) connection.publish(subject, "{}");
      await connection.flush();
      await waitFor(() => refusals.length >= requests.length, { timeoutMs: REFUSAL_MS });
      return refusals;
    });
    expect(refused.toSorted()).toEqual(requests.map((subject) => `publish ${subject}`).toSorted());

    const subjects = [
      ...STREAMS.map((stream) => `${stream}.>`),
      ">",
      "_INBOX.>",
      "_INBOX.*.>",
      ...["setup", ...SERVICES].filter((user) => user !== service).map((u) => `_INBOX.${u}.>`),
      "$JS.>",
      ...(service === "gateway" ? [] : ["gateway-limits.>", "gateway-limits.x.all"]),
    ];
    const unheard = await withUser(service, async (connection, refusals) => {
      for (const subject of subjects) connection.subscribe(subject, { callback: () => {} });
      await connection.flush();
      await waitFor(() => refusals.length >= subjects.length, { timeoutMs: REFUSAL_MS });
      return refusals;
    });
    expect(unheard.toSorted()).toEqual(
      subjects.map((subject) => `subscription ${subject}`).toSorted(),
    );
  });
});

function busOf(service: Service): EventBus {
  const bus = buses.get(service);
  if (bus === undefined) throw new Error(`No bus: ${service}`);
  return bus;
}

function serviceOf(name: string): Service {
  const service = SERVICES.find((each) => each === name);
  if (service === undefined) throw new Error(`No service: ${name}`);
  return service;
}

function urlOf(user: string): string {
  const password = encodeURIComponent(passwords.get(user) ?? "");
  return nats.url.replace("://", `://${user}:${password}@`);
}

function subjectOf({ stream, type }: PublishedEvent): string {
  return `${stream}.${type}`;
}

function uniqueBySubject(events: readonly PublishedEvent[]): PublishedEvent[] {
  return [...new Map(events.map((each) => [subjectOf(each), each])).values()];
}

function event(stream: string, type: string): PublishedEvent {
  const id = newId("evt_");
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ id, type, timestamp, companyId: newUuid(), data: {} });
  return { id, stream, type, body };
}

/** What a service publishes: on its own stream, and of what its callers change. */
function ownEvents(service: Service): PublishedEvent[] {
  const stream = OWN_STREAM[service];
  const audited = (actions.get(service) ?? []).map((action) => event("audit", action));
  return stream === undefined ? audited : [event(stream, "thing.happened"), ...audited];
}

/** Publishes through the bus; answers one word for each event that was not taken. */
async function publish(service: Service, events: readonly PublishedEvent[]): Promise<string[]> {
  const bus = busOf(service);
  const attempt = async (): Promise<unknown> => {
    try {
      await bus.publish(events);
      return null;
    } catch (error) {
      // Until it is connected it cannot know.
      if (String(error).includes("no connection")) throw error;
      return error;
    }
  };
  const outcome = await waitFor(async () => ({ error: await attempt() }));
  if (outcome.error === null) return [];
  if (!(outcome.error instanceof PublishError)) throw outcome.error;
  return outcome.error.failures.map(({ cause }) =>
    /permission/i.test(String(cause)) ? "refused" : String(cause),
  );
}

async function setUp(): Promise<unknown> {
  const command = ["deploy/dev/src/admin.ts", "set-up-nats", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], NATS_URL: urlOf("setup") },
  });
  return JSON.parse(stdout);
}

/** Runs something as a user, who is told in words what he may not do. */
async function withUser<Result>(
  user: Service,
  work: (connection: NatsConnection, refusals: string[]) => Promise<Result>,
): Promise<Result> {
  const pass = passwords.get(user) ?? "";
  const connection = await connect({ servers: nats.url, user, pass });
  const refusals: string[] = [];
  void (async () => {
    for await (const { permissionContext } of connection.status()) {
      if (permissionContext === undefined) continue;
      refusals.push(`${permissionContext.operation} ${permissionContext.subject}`);
    }
  })();
  try {
    return await work(connection, refusals);
  } finally {
    await connection.close();
  }
}

async function asOperator<Result>(
  work: (manager: Awaited<ReturnType<NatsConnection["jetstreamManager"]>>) => Promise<Result>,
): Promise<Result> {
  const pass = passwords.get("setup") ?? "";
  const inboxPrefix = "_INBOX.setup";
  const connection = await connect({ servers: nats.url, user: "setup", pass, inboxPrefix });
  try {
    return await work(await connection.jetstreamManager());
  } finally {
    await connection.close();
  }
}

function countMessages(): Promise<number[]> {
  return asOperator(({ streams }) =>
    Promise.all(STREAMS.map(async (stream) => (await streams.info(stream)).state.messages)),
  );
}

function pendingOf(stream: string, consumer: string): Promise<number> {
  return asOperator(async ({ consumers }) => {
    const info = await consumers.info(stream, consumer);
    return info.num_ack_pending + info.num_pending;
  });
}

function allConsumers(stream: string): string[] {
  return Object.values(CONSUMERS).flatMap((consumers) => consumers[stream] ?? []);
}

/** The actions that routes audit, by the services whose sources name them. */
async function findAuditActions(): Promise<Map<Service, string[]>> {
  const audited = new Set<string>(ROUTES.flatMap(({ audit }) => audit));
  const found = new Map<Service, string[]>();
  for (const service of SERVICES) {
    // It writes its own changes into the log itself.
    if (service === "gateway") continue;
    const folder = join(ROOT, "services", service, "src");
    const files = (await readdir(folder, { recursive: true })).filter((f) => f.endsWith(".ts"));
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const lines = texts.flatMap(
      (text) => text.match(/^.*(?:\baction\b|Action\b|\baudit\b).*$/gm) ?? [],
    );
    const named = new Set(
      lines.flatMap((line) => line.match(/(?<=")[a-z_]+\.[a-z_]+(?=")/g) ?? []),
    );
    found.set(
      service,
      [...audited].filter((action) => named.has(action)),
    );
  }
  return found;
}
