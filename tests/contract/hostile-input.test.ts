import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { readApiDocument } from "../support/api-document.ts";
import type { ApiDocument } from "../support/api-document.ts";
import { placeIn, placesOf, sampleIn } from "../support/body-positions.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { dumpTables } from "../support/dump-tables.ts";
import { HOSTILE_QUERIES, HOSTILE_SEGMENTS, HOSTILE_VALUES } from "../support/hostile-values.ts";
import { createLiveRequests, createSenders, pathOf, sendRaw } from "../support/live-requests.ts";
import type { LiveRequest, RawAnswer } from "../support/live-requests.ts";
import { nameOf } from "../support/route-requests.ts";

/** So many at a time: the services wait for Postgres most of the time. */
const CONCURRENCY = 8;
/** What a refusal says, however much was wrong. */
const REFUSAL_CHARS_MAX = 64 * 1024;

/** What one request is to bring about, apart from the objects that it names. */
interface Attack {
  readonly route: Route;
  /** `body steps.0.id: NUL` */
  readonly name: string;
  /** Where the hostile value stands: what a refusal for its sake names. Null: it is about no field. */
  readonly place: readonly string[] | null;
  readonly toRequest: Write;
  /** The same without anything hostile. */
  readonly toControl: Write;
}

type Write = (live: LiveRequest) => { path: string; body: string | undefined };

const POSITION = "the rest of the position is missing, which is what is said";
/** Fields whose refusal may name no field, or others, and why. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  "POST /tables/{id}/rows/batch body insert": "the changes of three lists are counted together",
  "PATCH /dashboards/{id}/widgets/{widgetId} body x": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body y": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body w": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body h": POSITION,
};

interface Outcome {
  attack: Attack;
  answer: RawAnswer;
  /** What is said of the same request with a value of the right kind there; null where nobody had to ask. */
  control: RawAnswer | null;
}

/** Of so many values each field gets one; the next field gets the next ones. `HOSTILE=all` tries all on each. */
const SHARE = process.env["HOSTILE"] === "all" ? 1 : 4;

function shareOf<Value>(values: readonly Value[], field: number): readonly Value[] {
  return values.filter((_, index) => (index + field) % SHARE === 0);
}

let system: DrivenSystem;
let document: ApiDocument;
let prepare: (route: Route) => Promise<LiveRequest>;
const nextSender = createSenders();
beforeAll(async () => {
  system = await startDrivenSystem();
  document = await readApiDocument();
  prepare = createLiveRequests(system);
});
afterAll(() => system.stop());

const refusal = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

function attacksOn(route: Route, live: LiveRequest): Attack[] {
  return [...pathAttacks(route), ...queryAttacks(route), ...bodyAttacks(route, live)];
}

function pathAttacks(route: Route): Attack[] {
  return Object.keys(route.params).flatMap((name) =>
    Object.entries(HOSTILE_SEGMENTS).map(([what, segment]) => ({
      route,
      name: `path ${name}: ${what}`,
      place: null,
      toRequest: (live: LiveRequest) => ({
        path: addressOf(route, live, { params: { [name]: segment } }),
        body: textOf(live.body),
      }),
      toControl: unchanged(route),
    })),
  );
}

function queryAttacks(route: Route): Attack[] {
  const { parameters } = document.operationOf(route);
  const names = parameters.filter((each) => each.in === "query").map(({ name }) => name);
  return names.flatMap((name, field) =>
    shareOf(Object.entries(HOSTILE_QUERIES), field).map(([what, write]) => ({
      route,
      name: `query ${name}: ${what}`,
      place: [name],
      toRequest: (live: LiveRequest) => ({
        path: addressOf(route, live, { query: { name, text: write(name) } }),
        body: textOf(live.body),
      }),
      toControl: unchanged(route),
    })),
  );
}

function bodyAttacks(route: Route, live: LiveRequest): Attack[] {
  const { body: schema } = document.operationOf(route);
  if (schema === undefined) return [];
  return placesOf(document, schema, live.body).flatMap((place, field) =>
    shareOf(HOSTILE_VALUES, field).map(({ what, json, ofBody = false }) => ({
      route,
      name: `body ${place.join(".")}: ${what}`,
      place: ofBody ? null : place,
      toRequest: (current: LiveRequest) => ({
        path: addressOf(route, current),
        body: placeIn(document, schema, current.body, { place, json }),
      }),
      toControl: (current: LiveRequest) => ({
        path: addressOf(route, current),
        body: sampleIn(document, schema, current.body, place),
      }),
    })),
  );
}

function unchanged(route: Route): Write {
  return (live) => ({ path: addressOf(route, live), body: textOf(live.body) });
}

function addressOf(
  route: Route,
  live: LiveRequest,
  {
    params = {},
    query,
  }: { params?: Record<string, string>; query?: { name: string; text: string } } = {},
): string {
  const encoded = Object.entries(live.params).map(([name, value]) => [
    name,
    encodeURIComponent(value),
  ]);
  const path = pathOf(route, { ...Object.fromEntries(encoded), ...params });
  const others = live.query.split("&").filter((pair) => pair.split("=")[0] !== query?.name);
  const all = [...others, query?.text ?? ""].filter((pair) => pair !== "");
  return all.length === 0 ? path : `${path}?${all.join("&")}`;
}

function textOf(body: unknown): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body);
}

function send(
  route: Route,
  toRequest: Write,
  { headers, ...live }: LiveRequest,
): Promise<RawAnswer> {
  const { method } = route;
  // Tries to sign in are limited by address.
  const sender = route.path.startsWith("/auth/") ? { from: nextSender() } : {};
  const request = { method, headers, ...sender, ...toRequest({ headers, ...live }) };
  return waitFor(async () => {
    const answer = await sendRaw(system, request);
    // Of a company's evaluations one is under way at a time: whoever is sent away has not been judged.
    return answer.status === 429 && answer.text.includes('"limit":"evaluations"') ? null : answer;
  });
}

/** Every attack on a route, with its answer: sent once, for all tests. */
const outcomes = new Map<Route, Promise<Outcome[]>>();
function outcomesOf(route: Route): Promise<Outcome[]> {
  const known = outcomes.get(route) ?? attackAll(route);
  outcomes.set(route, known);
  return known;
}

async function attackAll(route: Route): Promise<Outcome[]> {
  let live = prepare(route);
  const attacks = attacksOn(route, await live);
  const outcomesSoFar = await mapConcurrently(attacks, async (attack) => {
    const { toRequest } = attack;
    const mine = live;
    const first = { attack, answer: await send(route, toRequest, await mine), control: null };
    if (route.method === "GET" || !mayBeOfObject(first)) return first;
    // An attack that was let in may have used the object up: once more with the next one, and then with its own.
    if (live === mine) live = prepare(route);
    const second = { ...first, answer: await send(route, toRequest, await live) };
    if (!mayBeOfObject(second)) return second;
    return { ...first, answer: await send(route, toRequest, await prepare(route)) };
  });
  return withControls(route, outcomesSoFar);
}

/**
 * Where a refusal names another field, what stands around the hostile value may be the reason: one such request for
 * each field tells.
 */
async function withControls(route: Route, given: readonly Outcome[]): Promise<Outcome[]> {
  const controls = new Map<string, Promise<RawAnswer>>();
  const controlOf = async (attack: Attack): Promise<RawAnswer> =>
    send(route, attack.toControl, await prepare(route));
  return mapConcurrently(given, async (outcome) => {
    const { attack, answer } = outcome;
    if (namesField(attack, answer) || fieldOf(attack) in NAMED_OTHERWISE) return outcome;
    const known = controls.get(fieldOf(attack)) ?? controlOf(attack);
    controls.set(fieldOf(attack), known);
    return { ...outcome, control: await known };
  });
}

function mayBeOfObject({ attack, answer }: Pick<Outcome, "attack" | "answer">): boolean {
  // A wrong address gets no further with another object.
  if (attack.place === null) return false;
  return [401, 404, 409].includes(answer.status) || !namesField(attack, answer);
}

async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}

/** What is wrong with the answer to an attack; null when nothing is. */
function faultOf({ attack, answer, control }: Outcome): string | null {
  const { status, text } = answer;
  if (status >= 500 && status !== 502) return "a server error";
  if (answer.headers["x-request-id"] === undefined || answer.headers["link"] === undefined) {
    return "no X-Request-Id or Link";
  }
  if (status < 400) return null;
  if (text.length > REFUSAL_CHARS_MAX) return `a refusal of ${text.length} characters`;
  if (!refusal.safeParse(parse(text)).success) return "no refusal in the envelope";
  if (fieldOf(attack) in NAMED_OTHERWISE) return null;
  if (control !== null && saysSame(answer, control)) return null;
  return namesField(attack, answer) ? null : "the field is not named";
}

/** Whether a refusal names only what a request without anything hostile is refused for, too. */
function saysSame(answer: RawAnswer, control: RawAnswer): boolean {
  const named = new Set(namedBy(control).map((path) => path.join("\n")));
  const said = namedBy(answer);
  return said.length > 0 && said.every((path) => named.has(path.join("\n")));
}

function namedBy({ text }: RawAnswer): (readonly string[])[] {
  const { error } = refusal.safeParse(parse(text)).data ?? {};
  return (violations.safeParse(error?.details).data ?? []).map(({ path }) => path);
}

/** `POST /tables body name` */
function fieldOf({ route, name }: Attack): string {
  return `${nameOf(route)} ${name.split(":")[0]}`;
}
/** Whether a refusal for the sake of a field says so; true of any other answer. */
function namesField({ place }: Attack, answer: RawAnswer): boolean {
  const { error } = refusal.safeParse(parse(answer.text)).data ?? {};
  if (place === null || !["BAD_REQUEST", "VALIDATION_ERROR"].includes(error?.code ?? ""))
    return true;
  return namedBy(answer).some((path) => isAbout(path, place));
}

/** Whether one is in the other. */
function isAbout(path: readonly string[], place: readonly string[]): boolean {
  const length = Math.min(path.length, place.length);
  const sameStart = path.slice(0, length).join("\n") === place.slice(0, length).join("\n");
  // A list in a query is named as it was written: `limit[]`.
  return length > 0 && (sameStart || path[0]?.startsWith(`${place[0]}[`) === true);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe.each(ROUTES.map((route) => ({ name: nameOf(route), route })))("$name", ({ route }) => {
  it("takes or refuses hostile values of every field, and says which field it was", async () => {
    const faults = (await outcomesOf(route)).flatMap((outcome) => {
      const fault = faultOf(outcome);
      const { attack, answer } = outcome;
      return fault === null
        ? []
        : [`${attack.name} → ${fault}: ${answer.status} ${answer.text.slice(0, 300)}`];
    });
    expect(faults).toEqual([]);
    const misnamed = (await outcomesOf(route)).filter(
      ({ attack, answer, control }) => control === null && !namesField(attack, answer),
    );
    // No field is excused that needs it no more.
    const excused = Object.keys(NAMED_OTHERWISE).filter((each) =>
      each.startsWith(`${nameOf(route)} `),
    );
    const named = new Set(misnamed.map(({ attack }) => fieldOf(attack)));
    expect(excused).toEqual(expect.arrayContaining([...named]));
    if (SHARE === 1) expect(named).toEqual(new Set(excused));
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

/** Tries that fail are counted (D10). */
const COUNTED = ["POST /auth/session", "POST /auth/password"];

it("what is refused changes nothing", async () => {
  for (const route of ROUTES) await outcomesOf(route);
  // Endpoints that were let in hear of runs, and have deliveries that are tried for a day.
  await system.database.query(sql.type(z.unknown())`delete from webhooks.deliveries`);
  await system.database.query(sql.type(z.unknown())`delete from webhooks.endpoints`);
  const again: { route: Route; attack: Attack; live: LiveRequest }[] = [];
  for (const route of ROUTES.filter((each) => !COUNTED.includes(nameOf(each)))) {
    const refused = (await outcomesOf(route)).filter(isRefused);
    // One for each way of refusing a field.
    const ways = new Map(refused.map((each) => [wayOf(each), each.attack]));
    const live = await prepare(route);
    again.push(...[...ways.values()].map((attack) => ({ route, attack, live })));
  }
  // That of the request to try one again goes to where nobody listens, for a day as well.
  await system.database.query(sql.type(z.unknown())`
    update webhooks.deliveries set status = 'failed', next_attempt_at = null where status = 'pending'
  `);
  const before = await dumpTables(system.database);
  const answers = await mapConcurrently(again, async ({ route, attack, live }) => {
    const { status } = await send(route, attack.toRequest, live);
    return status < 400 ? `${nameOf(route)} ${attack.name}` : null;
  });
  expect(answers.filter((each) => each !== null)).toEqual([]);
  expect(await dumpTables(system.database)).toEqual(before);
});

/** Not for reasons that pass: too many questions at a time, a provider that does not answer. */
function isRefused({ answer: { status } }: Outcome): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function wayOf({ attack, answer }: Outcome): string {
  const { data } = refusal.safeParse(parse(answer.text));
  const [field = ""] = attack.name.split(":");
  return [field, answer.status, data?.error.message].join(" ");
}
