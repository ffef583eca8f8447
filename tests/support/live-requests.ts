import type { Route } from "@workflow/service-gateway/routes";
import { prepareAudited } from "./audited-requests/prepare-audited.ts";
import { makeCompanyObjects } from "./company-objects.ts";
import type { DrivenSystem } from "./driven-system.ts";
import { fillPath, idPositionsOf, nameOf } from "./route-requests.ts";
import type { Resource } from "./route-requests.ts";

/** A request of a route that succeeds, in its parts. */
export interface LiveRequest {
  /** The values in the path, by their names, as they are without percent codes. */
  readonly params: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * Makes requests that succeed. Those that may change something get objects of their own, to be thrown away;
 * those that read share some.
 */
export function createLiveRequests(system: DrivenSystem): (route: Route) => Promise<LiveRequest> {
  let shared: Promise<Record<Resource, string>> | undefined;
  const needed = new Set<Resource>(["member"]);
  return async (route) => {
    if (route.method !== "GET") {
      const { path, headers, key, body } = await prepareAudited(system, nameOf(route));
      const [address = "", query = ""] = path.split("?");
      const withKey = key === null ? {} : { "x-api-key": system.acme.key };
      return {
        params: readParams(route, address),
        query,
        headers: { ...withKey, ...headers },
        body,
      };
    }
    shared ??= makeCompanyObjects(system, system.acme, system.session, needed);
    const objects = await shared;
    const positions = idPositionsOf(route);
    const [address = "", query = ""] = fillPath(route, (name) => {
      const position = positions.find((each) => each.in === "path" && each.name === name);
      return position === undefined ? "" : objects[position.resource];
    }).split("?");
    const { acme, session } = system;
    const headers = route.scope === "session" ? session.headers : { "x-api-key": acme.key };
    return { params: readParams(route, address), query, headers, body: undefined };
  };
}

/** The path of a route with these values, each as it is to stand there. */
export function pathOf({ path }: Route, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? "");
}

function readParams({ path, params }: Route, address: string): Record<string, string> {
  const values = address.split("/");
  const segments = path.split("/");
  return Object.fromEntries(
    Object.keys(params).map((name) => {
      const index = segments.indexOf(`{${name}}`);
      return [name, decodeURIComponent(values[index] ?? "")];
    }),
  );
}
