import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { placeIn, withoutPlace } from "../support/body-positions.ts";
import { readDescription } from "../support/description/description.ts";
import { SHARE } from "../support/hostile/attacks.ts";
import { HOSTILE_HEADERS, HOSTILE_VALUES, NO_OBJECTS } from "../support/hostile-values.ts";
import { INBOUND_SECRETS, inboundSources } from "../support/inbound-sources.ts";
import type { Headers, InboundSource } from "../support/inbound-sources.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/*
 * The matrix of validation for inbound webhooks. Each sender's event is sent with wrong values in every place,
 * in every wrong form and with wrong headers. The description of the API has each status of the answers: the
 * suite compares all of them. A sender gets `{error}` or a receipt, never a fault of ours. A refused event starts
 * nothing.
 */

/** A request of a sender that is wrong in one place. */
interface Attack {
  name: string;
  body: string | Buffer;
  headers: Headers;
  /** The one answer that is right; null where the event may be taken. */
  refusal: { status: number; error: unknown } | null;
}

interface Outcome {
  attack: Attack;
  status: number;
  body: unknown;
}

const JSON_TYPE: Headers = { "content-type": "application/json" };
const ACCOUNT = "acct.example";
/** The paths of `inboundSources`, in their order. */
const NAMES = ["custom", "stripe", "resend", "nango", "airwallex", "hubspot", "finance"] as const;

let system: WholeSystem;
let sources: readonly InboundSource[];
beforeAll(async () => {
  system = await startWholeSystem({ webhooks: { inboundSecrets: INBOUND_SECRETS } });
  sources = inboundSources(system.origin, `${system.acme.id}/orders`);
  await waitFor("custom");
  for (const { provider } of sources) {
    if (provider === null) continue;
    await connect(provider);
    await waitFor(provider);
  }
});
afterAll(() => system?.stop());

/** Activates a workflow that each event of a provider starts. */
async function waitFor(provider: string): Promise<void> {
  const path = provider === "custom" ? { path: "orders" } : { path: "orders", provider };
  const body = { name: provider, trigger: { type: "webhook", ...path }, steps: [] };
  const made = await system.call("POST", "/workflows", { body });
  const { id } = z.looseObject({ id: z.string() }).parse(made.data);
  expect(await system.call("POST", `/workflows/${id}/activate`)).toMatchObject({ status: 200 });
}

/** Connects the account. Only the database can do so for providers that ask the account's owner. */
async function connect(provider: string): Promise<void> {
  const body = { provider: "finance", name: provider, externalAccountId: ACCOUNT };
  const made = await system.call("POST", "/connections", { body });
  const { id } = z.looseObject({ id: z.string() }).parse(made.data);
  await system.database.query(sql.type(z.object({}))`
    update integrations.connections set provider = ${provider} where id = ${id}
  `);
}

async function send(source: InboundSource, { body, headers }: Attack) {
  const init = {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : new Uint8Array(body),
  };
  const response = await fetch(`${system.origin}${source.path}`, init);
  return { status: response.status, body: z.unknown().parse(await response.json()) };
}

async function countRuns(): Promise<number> {
  const { count } = await system.database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from runs.runs
  `);
  return count;
}

/** The receipt of a route that took an event. */
function isReceipt(source: InboundSource, body: unknown): boolean {
  const started = z.int().nonnegative();
  const schema =
    source.path.startsWith("/webhooks/custom") || source.unreadable === "Invalid JSON"
      ? z.strictObject({
          received: z.literal(true),
          eventId: z.string().min(1).nullable(),
          workflowsTriggered: started,
        })
      : z.strictObject({ received: z.literal(true), count: started });
  return schema.safeParse(body).success;
}

function attacksOf(source: InboundSource): Attack[] {
  return [...valueAttacks(source), ...formAttacks(source), ...headerAttacks(source)];
}

/** The event with wrong values in each place, and without the member there. */
function valueAttacks(source: InboundSource): Attack[] {
  const places = placesIn(source.event(ACCOUNT));
  return places.flatMap((place, field) => {
    const without = withoutPlace(JSON.stringify(source.event(ACCOUNT)), place);
    const values = HOSTILE_VALUES.filter((_, index) => (index + field) % SHARE === 0);
    const bodies = values.map(({ what, json }) => ({
      name: `${place.join(".")}: ${what}`,
      body: placeIn({ resolve: (schema) => schema }, {}, source.event(ACCOUNT), { place, json }),
    }));
    bodies.push({ name: `${place.join(".")}: missing`, body: without });
    return bodies.map(({ name, body }) => ({ name, ...signed(source, body), refusal: null }));
  });
}

/** Every path to a value in an event. */
function placesIn(value: unknown, place: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [place];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    placesIn(member, [...place, name]),
  );
  return place.length === 0 ? inside : [place, ...inside];
}

/** Bodies that are no event, and events that are said to be something else. */
function formAttacks(source: InboundSource): Attack[] {
  const good = JSON.stringify(source.event(ACCOUNT));
  const unreadable = source.unreadable === null ? null : { status: 400, error: source.unreadable };
  // HubSpot and the finance application send lists of events, which may be empty.
  const isList = ["/webhooks/hubspot", "/webhooks/finance"].includes(source.path);
  const forms = Object.entries({ ...NO_OBJECTS, nothing: "" }).map(([name, body]) => ({
    name,
    ...signed(source, body),
    refusal: isList && body === "[]" ? null : unreadable,
  }));
  return [
    ...forms,
    {
      name: "more than 1 MiB",
      ...signed(source, JSON.stringify({ text: "x".repeat(1024 * 1024) })),
      refusal: { status: 413, error: expect.stringContaining("1048576 bytes") },
    },
    {
      name: "bytes that are no UTF-8",
      body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      headers: JSON_TYPE,
      // The signature is of another body.
      refusal:
        source.unreadable === null
          ? { status: 400, error: "The request body is not valid UTF-8." }
          : { status: 401, error: expect.any(String) },
    },
    {
      name: "compressed",
      ...signed(source, good, { "content-encoding": "gzip" }),
      refusal: { status: 415, error: "The request body must not be compressed." },
    },
  ];
}

/** Each header of a signature with each wrong value, and without it. */
function headerAttacks(source: InboundSource): Attack[] {
  const body = JSON.stringify(source.event(ACCOUNT));
  const names = Object.keys(source.sign(body));
  const refusal = { status: 401, error: expect.stringMatching(/^(Invalid|Missing) signature$/) };
  return names.flatMap((name) => {
    const { [name]: own = "", ...others } = source.sign(body);
    const wrong = Object.entries({
      ...HOSTILE_HEADERS,
      cut: own.slice(0, -1),
    });
    return [
      { name: `${name}: missing`, body, headers: { ...JSON_TYPE, ...others }, refusal },
      ...wrong.map(([what, value]) => ({
        name: `${name}: ${what}`,
        body,
        headers: { ...JSON_TYPE, ...others, [name]: value },
        refusal,
      })),
    ];
  });
}

function signed(source: InboundSource, body: string, more: Headers = {}) {
  return { body, headers: { ...JSON_TYPE, ...source.sign(body), ...more } };
}

/** The fault of an answer; null where it is right. */
function faultOf(source: InboundSource, { attack, status, body }: Outcome): string | null {
  const isRight =
    status === 200
      ? attack.refusal === null && isReceipt(source, body)
      : status < 500 && z.strictObject({ error: z.string().min(1) }).safeParse(body).success;
  return isRight ? null : `${attack.name} → ${status} ${JSON.stringify(body).slice(0, 300)}`;
}

it("knows every route that is described", async () => {
  const { document } = await readDescription();
  const described = Object.keys(
    z.looseObject({ paths: z.record(z.string(), z.unknown()) }).parse(document).paths,
  )
    .filter((path) => path.startsWith("/webhooks/"))
    .toSorted();
  expect([...new Set(sources.map(({ route }) => route))].toSorted()).toEqual(described);
  expect(sources.map(({ path }) => path.split("/")[2])).toEqual(NAMES);
});

describe.each(NAMES.map((name, place) => ({ name, place })))("events of $name", ({ place }) => {
  it("are taken or refused in plain words, whatever is wrong with them", async () => {
    const source = sourceAt(place);
    const outcomes: Outcome[] = [];
    for (const attack of attacksOf(source))
      outcomes.push({ attack, ...(await send(source, attack)) });
    expect(outcomes.flatMap((outcome) => faultOf(source, outcome) ?? [])).toEqual([]);
    for (const { attack, status, body } of outcomes) {
      if (attack.refusal === null) continue;
      const { error } = attack.refusal;
      expect([attack.name, status, body]).toEqual([attack.name, attack.refusal.status, { error }]);
    }
    const refused = outcomes.filter(({ status }) => status !== 200).map(({ attack }) => attack);
    const before = await countRuns();
    for (const attack of refused) await send(source, attack);
    expect(await countRuns()).toBe(before);
  });

  it("start a run when nothing is wrong with them", async () => {
    const source = sourceAt(place);
    const body = JSON.stringify(source.event(ACCOUNT));
    const answer = await send(source, { name: "good", ...signed(source, body), refusal: null });
    const started = source.path === "/webhooks/nango" ? 0 : 1;
    expect(answer).toEqual({
      status: 200,
      body: expect.objectContaining(
        source.route.endsWith("{provider}") ? { count: started } : { workflowsTriggered: started },
      ),
    });
  });
});

function sourceAt(place: number): InboundSource {
  const source = sources[place];
  if (source === undefined) throw new Error(`No sender has the place ${place}.`);
  return source;
}
