import { OPERATIONS } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { Told } from "../description/description.ts";
import type { WholeSystem } from "../whole-system.ts";

/** The parts of a request of the story, beside its operation. */
export interface Telling {
  /** The name that tells several examples of an operation apart; a single example has none. */
  name?: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** The body in place of JSON. */
  csv?: string;
  /** The credential in place of the company's API key. */
  headers?: Readonly<Record<string, string>>;
}

const envelope = z.looseObject({ data: z.unknown() });
const withId = z.looseObject({ id: z.string() });

/** Sends the requests of the story to a real system and keeps the answers. */
export class Storyteller {
  readonly told: Told[] = [];
  readonly system: WholeSystem;

  constructor(system: WholeSystem) {
    this.system = system;
  }

  /** Sends one request. Throws when its status is no success that the operation describes. */
  async tell(operationId: string, telling: Telling = {}): Promise<unknown> {
    const { name = "example", params = {}, query = {}, body, csv } = telling;
    const route = routeOf(operationId);
    const response = await this.#send(route, telling);
    const text = await response.text();
    const { status } = response;
    const contentType = response.headers.get("content-type")?.split(";")[0] ?? null;
    if (!(status in route.responses) && !(status === 302 && route.redirects !== null)) {
      throw new Error(`${operationId} ${name} was answered ${status} ${text}`);
    }
    const answer: unknown = contentType === "application/json" ? JSON.parse(text) : text;
    this.told.push({
      operationId,
      name,
      params,
      query,
      ...((body !== undefined || csv !== undefined) && { body: csv ?? body }),
      status,
      contentType,
      answer,
    });
    return envelope.safeParse(answer).data?.data;
  }

  /** Tells of the making of an object, and returns its id. */
  async make(operationId: string, telling: Telling): Promise<string> {
    return withId.parse(await this.tell(operationId, telling)).id;
  }

  /** Reads until the answer is as it should be, which is no part of the story. */
  waitUntil<Found>(path: string, find: (data: unknown) => Found | null): Promise<Found> {
    return waitFor(async () => find((await this.system.call("GET", path)).data));
  }

  #send(route: Route, { params = {}, query = {}, body, csv, headers }: Telling): Promise<Response> {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
      const value = params[name];
      if (value === undefined) throw new Error(`${route.path} needs ${name}.`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams(query).toString();
    const content = csv ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = csv === undefined ? "application/json" : "text/csv";
    const { origin, acme } = this.system;
    return fetch(`${origin}/api/v1${path}${search === "" ? "" : `?${search}`}`, {
      method: route.method,
      redirect: "manual",
      headers: {
        ...(headers ?? { "x-api-key": acme.key }),
        ...(content !== undefined && { "content-type": type }),
      },
      ...(content !== undefined && { body: content }),
    });
  }
}

function routeOf(operationId: string): Route {
  const route = OPERATIONS[operationId];
  if (route === undefined) throw new Error(`There is no operation ${operationId}.`);
  return route;
}
