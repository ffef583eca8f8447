import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import type { Answer, CallOptions } from "../support/api-client.ts";
import { makeCompanyObjects } from "../support/company-objects.ts";
import { signInEditor } from "../support/dashboards.ts";
import type { SignedIn } from "../support/dashboards.ts";
import { dumpTables } from "../support/dump-tables.ts";
import {
  bodyOf,
  fillPath,
  idPositionsOf,
  MALFORMED_ID,
  nameOf,
  UNKNOWN_ID,
} from "../support/route-requests.ts";
import type { IdPosition, Resource } from "../support/route-requests.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

/** The same in all requests, so that whole bodies can be compared. */
const HEADERS = { "x-request-id": "tenants" };

let openai: ModelDouble;
let system: WholeSystem;
/** Somebody who is signed in to each company, by its id. */
const sessions = new Map<string, SignedIn>();

beforeAll(async () => {
  openai = await startOpenAiDouble();
  system = await startWholeSystem({ agents: { openai } });
  for (const company of [system.acme, system.globex]) {
    sessions.set(company.id, await signInEditor(system, company));
  }
});
afterAll(async () => {
  await system.stop();
  await openai.close();
});

/** Objects that nothing changes, by the id of their company. */
const lasting = new Map<string, Promise<Record<Resource, string>>>();

/** The caller's own objects. They stay as they are, for the requests that name them are all refused. */
function ownObjects(): Promise<Record<Resource, string>> {
  return lastingObjects(system.acme, ROUTES);
}

/** The other company's, whose owner reaches them in the end: only routes that read may share them. */
function theirObjects(route: Route): Promise<Record<Resource, string>> {
  if (route.method !== "GET") return makeObjects(system.globex, [route]);
  return lastingObjects(system.globex, GET_ROUTES);
}

function lastingObjects(
  company: Company,
  routes: readonly Route[],
): Promise<Record<Resource, string>> {
  const known = lasting.get(company.id) ?? makeObjects(company, routes);
  lasting.set(company.id, known);
  return known;
}

function makeObjects(
  company: Company,
  routes: readonly Route[],
): Promise<Record<Resource, string>> {
  const needed = new Set(routes.flatMap(idPositionsOf).map(({ resource }) => resource));
  return makeCompanyObjects(system, company, sessionOf(company), needed);
}

const GET_ROUTES = ROUTES.filter(({ method }) => method === "GET");

type Sender = Required<Pick<CallOptions, "key" | "headers">>;

/** What shows that a request is a company's: a key, or a session where keys are not let in. */
function senderOf(company: Company, route: Route): Sender {
  return route.scope === "session" ? sessionOf(company) : { key: company.key, headers: {} };
}

function sessionOf({ id }: Company): SignedIn {
  const session = sessions.get(id);
  if (session === undefined) throw new Error("Nobody is signed in to the company.");
  return session;
}

/** A request in which one id is given and all others are the caller's own. */
function send(
  route: Route,
  position: IdPosition,
  id: string,
  own: Record<Resource, string>,
  sender: Sender,
): Promise<Answer> {
  const others = idPositionsOf(route);
  const valueOf = (place: IdPosition["in"], name: string): string => {
    if (place === position.in && name === position.name) return id;
    const other = others.find((each) => each.in === place && each.name === name);
    return other === undefined ? "" : own[other.resource];
  };
  const path = fillPath(route, (name) => valueOf("path", name));
  const query = position.in === "query" ? `?${position.name}=${encodeURIComponent(id)}` : "";
  const body = bodyOf(route);
  const members = position.in === "body" ? { [position.name]: id } : {};
  return system.call(route.method, path + query, {
    key: sender.key,
    headers: { ...sender.headers, ...HEADERS },
    body:
      body === undefined && position.in !== "body" ? undefined : Object.assign({}, body, members),
  });
}

const cases = ROUTES.flatMap((route) =>
  idPositionsOf(route).map((position) => ({
    name: `${nameOf(route)}, ${position.in} ${position.name}`,
    route,
    position,
  })),
);

describe.each(cases)("$name", ({ route, position }) => {
  it("answers for another company's object exactly as for none, and leaves it alone", async () => {
    const { acme, globex } = system;
    const [own, theirs] = await Promise.all([ownObjects(), theirObjects(route)]);
    const [sender, theirSender] = [senderOf(acme, route), senderOf(globex, route)];
    const before = await dumpTables(system.database);

    const ids = [theirs[position.resource], UNKNOWN_ID[position.resource], MALFORMED_ID];
    const answers: Answer[] = [];
    for (const id of ids) answers.push(await send(route, position, id, own, sender));
    for (const answer of answers) {
      if (position.in === "query") {
        // A filter by something that is not there finds nothing.
        expect(answer).toMatchObject({ status: 200, data: [] });
      } else {
        expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
      }
      expect(answer?.text).toBe(answers[0]?.text);
      expect(headersOf(answer)).toEqual(headersOf(answers[0]));
    }
    expect(await dumpTables(system.database)).toEqual(before);

    if (!route.contentTypes.includes("application/json")) {
      const path = fillPath(route, () => theirs[position.resource]);
      const headers = { "x-api-key": globex.key };
      const response = await fetch(`${system.origin}/api/v1${path}`, { headers });
      expect(response.status).toBe(200);
      await response.body?.cancel();
      return;
    }
    // The owner's object is found, whatever its status makes of the request.
    const owner = await send(route, position, theirs[position.resource], theirs, theirSender);
    expect([200, 201, 202, 400, 409]).toContain(owner.status);
    if (position.in === "query") expect(owner.data).not.toEqual([]);
  });
});

describe("the routes without an id", () => {
  it("are known to be so", () => {
    const without = ROUTES.filter((route) => idPositionsOf(route).length === 0);
    expect(without.map(nameOf)).toEqual([
      "GET /blocks",
      "GET /blocks/{type}",
      "GET /workflows",
      "POST /workflows",
      "POST /workflows/import",
      "POST /runs/bulk",
      "GET /approvals",
      "GET /connections/{provider}/auth-url",
      "GET /connections/{provider}/callback",
      "GET /connections",
      "POST /connections",
      "GET /agents",
      "POST /agents",
      "GET /webhook-endpoints",
      "POST /webhook-endpoints",
      "GET /webhook-event-types",
      "GET /webhook-events",
      "GET /auth/api-keys",
      "POST /auth/api-keys",
      "DELETE /auth/api-keys",
      "POST /auth/session",
      "GET /auth/session",
      "PUT /auth/session",
      "DELETE /auth/session",
      "POST /auth/password",
      "GET /members",
      "POST /members",
      "GET /dashboards",
      "POST /dashboards",
      "GET /tables",
      "GET /table-folders",
      "POST /table-folders",
    ]);
  });
});

function headersOf(answer: Answer | undefined): [string, string][] {
  return [...(answer?.headers ?? [])].filter(([name]) => name !== "date");
}
