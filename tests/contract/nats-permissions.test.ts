import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createNatsEventBus, createNatsSignals, PublishError, setUpNats } from "@workflow/events";
import type { EventBus, PublishedEvent } from "@workflow/events";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats } from "@workflow/testkit";
import { connect } from "nats";
import type { NatsConnection } from "nats";
import pino from "pino";
import {
  CONSUMERS,
  event,
  findAuditActions,
  forbiddenRequests,
  forbiddenSubscriptions,
  ownEvents,
  ROOT,
  serviceOf,
  SERVICES,
  STREAMS,
  subjectOf,
  uniqueBySubject,
} from "../support/nats-services.ts";
import type { Service } from "../support/nats-services.ts";

/*
 * deploy/nats on a real server: the user of each service may do what the service does on the bus, and nothing
 * else.
 */

/** The admin command loads the code of all services. */
const START_TIMEOUT_MS = 180_000;
/** A refusal arrives within this time, however busy the machine is. */
const REFUSAL_MS = 60_000;

const passwords = new Map<string, string>();
const buses = new Map<Service, EventBus>();
const logger = pino({ level: "silent" });
/** The failures of an event that came before its stream, and the answers to two set-ups of the streams. */
let tooEarly: string[];
let setUps: unknown[];
let nats: LocalNats;
let actions: Map<Service, string[]>;

beforeAll(async () => {
  for (const user of ["setup", ...SERVICES]) {
    passwords.set(user, `p@ss/${randomBytes(8).toString("hex")}:%`);
  }
  const env = Object.fromEntries(
    // The configuration reads the environment as values: quotes make a text of each.
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
    const own = ownEvents(actions, service);
    if (service !== "gateway" && service !== "webhooks") expect(own.length).toBeGreaterThan(0);
    expect(await publish(service, own)).toEqual([]);
  });

  it.each(SERVICES)("lets a service publish nothing of another's: %s", async (service) => {
    const own = new Set(ownEvents(actions, service).map(subjectOf));
    const foreign = SERVICES.flatMap((each) => ownEvents(actions, each)).filter(
      (each) => !own.has(subjectOf(each)),
    );
    expect(foreign.length).toBeGreaterThan(5);
    const before = await countMessages();
    // Each in a call of its own: a failed attempt gives up all events behind it.
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
      const publisher = SERVICES.find((each) =>
        ownEvents(actions, each).some((e) => e.stream === stream),
      );
      const [fresh] = ownEvents(actions, publisher ?? "webhooks").filter(
        (e) => e.stream === stream,
      );
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
        // An acknowledged event is gone for the next consumer of this name.
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
    const requests = forbiddenRequests(service);
    const refused = await withUser(service, async (connection, refusals) => {
      for (const subject of requests) connection.publish(subject, "{}");
      await connection.flush();
      await waitFor(() => refusals.length >= requests.length, { timeoutMs: REFUSAL_MS });
      return refusals;
    });
    expect(refused.toSorted()).toEqual(requests.map((subject) => `publish ${subject}`).toSorted());

    const subjects = forbiddenSubscriptions(service);
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

function urlOf(user: string): string {
  const password = encodeURIComponent(passwords.get(user) ?? "");
  return nats.url.replace("://", `://${user}:${password}@`);
}

/** Publishes through the bus; returns a word for each event that was not taken. */
async function publish(service: Service, events: readonly PublishedEvent[]): Promise<string[]> {
  const bus = busOf(service);
  const attempt = async (): Promise<unknown> => {
    try {
      await bus.publish(events);
      return null;
    } catch (error) {
      // A bus without a connection knows nothing of permissions.
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

/** Runs `work` with a service's user; `refusals` gathers what the server forbids. */
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
