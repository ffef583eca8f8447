import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, newUuid } from "@workflow/db";
import type { PublishedEvent } from "@workflow/events";
import { EVENT_CONSUMERS as GATEWAY, ROUTES } from "@workflow/service-gateway";
import { EVENT_CONSUMERS as INTEGRATIONS } from "@workflow/service-integrations";
import { EVENT_CONSUMERS as RUNS } from "@workflow/service-runs";
import { EVENT_CONSUMERS as WEBHOOKS } from "@workflow/service-webhooks";

/** The root of the repository. */
export const ROOT = join(import.meta.dirname, "../..");
/** The services, each of which has a user of its own in NATS. */
export const SERVICES = [
  "gateway",
  "workflows",
  "runs",
  "tables",
  "integrations",
  "webhooks",
] as const;
/** A service's name. */
export type Service = (typeof SERVICES)[number];

/** The stream of each service, beside the audit stream on which all publish. */
const OWN_STREAM: Readonly<Partial<Record<Service, string>>> = {
  workflows: "workflows",
  runs: "runs",
  tables: "tables",
};
/** The consumers of each service, by stream. */
export const CONSUMERS: Readonly<Partial<Record<Service, typeof GATEWAY>>> = {
  gateway: GATEWAY,
  integrations: INTEGRATIONS,
  runs: RUNS,
  webhooks: WEBHOOKS,
};
/** All streams. */
export const STREAMS = ["audit", "runs", "tables", "workflows"];

/** A text as the name of a service. Throws for another text. */
export function serviceOf(name: string): Service {
  const service = SERVICES.find((each) => each === name);
  if (service === undefined) throw new Error(`No service: ${name}`);
  return service;
}

/** The subject of an event. */
export function subjectOf({ stream, type }: PublishedEvent): string {
  return `${stream}.${type}`;
}

/** One event of each subject. */
export function uniqueBySubject(events: readonly PublishedEvent[]): PublishedEvent[] {
  return [...new Map(events.map((each) => [subjectOf(each), each])).values()];
}

/** A new event of this type. */
export function event(stream: string, type: string): PublishedEvent {
  const id = newId("evt_");
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ id, type, timestamp, companyId: newUuid(), data: {} });
  return { id, stream, type, body };
}

/** All consumers of a stream. */
function allConsumers(stream: string): string[] {
  return Object.values(CONSUMERS).flatMap((consumers) => consumers[stream] ?? []);
}

/** The actions that routes audit, by the services whose sources name them; none for the gateway. */
export async function findAuditActions(): Promise<Map<Service, string[]>> {
  const audited = new Set<string>(ROUTES.flatMap(({ audit }) => audit));
  const found = new Map<Service, string[]>();
  for (const service of SERVICES) {
    // The gateway writes its own changes into the log without NATS.
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

/** What a service publishes: an event of its own stream, and one for each action that it audits. */
export function ownEvents(
  actions: ReadonlyMap<Service, readonly string[]>,
  service: Service,
): PublishedEvent[] {
  const stream = OWN_STREAM[service];
  const audited = (actions.get(service) ?? []).map((action) => event("audit", action));
  return stream === undefined ? audited : [event(stream, "thing.happened"), ...audited];
}

const STREAM_VERBS = [
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
];

/** Subjects to which a service may publish nothing: requests about streams and consumers of others. */
export function forbiddenRequests(service: Service): string[] {
  const own = CONSUMERS[service] ?? {};
  const pairs = STREAMS.flatMap((stream) =>
    [...allConsumers(stream), "mine"].map((consumer) => [stream, consumer] as const),
  ).filter(([stream, consumer]) => own[stream]?.includes(consumer) !== true);
  return [
    ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`),
    ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.INFO.${stream}.${name}`),
    ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${name}`),
    ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.CREATE.${stream}.${name}`),
    ...pairs.map(([stream, name]) => `$JS.API.CONSUMER.DELETE.${stream}.${name}`),
    ...pairs.map(([stream, name]) => `$JS.ACK.${stream}.${name}.1.1.1.1.0`),
    ...STREAMS.flatMap((stream) => STREAM_VERBS.map((verb) => `$JS.API.${verb}.${stream}`)),
    "$JS.API.STREAM.CREATE.copy",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.LIST",
    "$SYS.REQ.SERVER.PING",
    "_INBOX.runs.x",
    "_INBOX.setup.x",
    ...(service === "gateway" ? [] : ["gateway-limits.x.all"]),
  ].filter((subject) => subject !== `_INBOX.${service}.x`);
}

/** Subjects to which a service may not subscribe. */
export function forbiddenSubscriptions(service: Service): string[] {
  return [
    ...STREAMS.map((stream) => `${stream}.>`),
    ">",
    "_INBOX.>",
    "_INBOX.*.>",
    ...["setup", ...SERVICES].filter((user) => user !== service).map((u) => `_INBOX.${u}.>`),
    "$JS.>",
    ...(service === "gateway" ? [] : ["gateway-limits.>", "gateway-limits.x.all"]),
  ];
}
