import type { Method } from "../route-declaration.ts";
import type { Route } from "../route-table-entry.ts";

/** The path of the table that a request matches, with the values of its parameters. */
export interface RouteMatch {
  readonly methods: ReadonlyMap<string, Route>;
  readonly params: Readonly<Record<string, string>>;
}

interface Segment {
  readonly fixed: Map<string, Segment>;
  parameter: Segment | null;
  end: { methods: Map<Method, Route>; names: readonly string[] } | null;
}

/**
 * Finds a route segment by segment, a fixed segment before a parameter. Express would try up to
 * sixty patterns for each request.
 */
export class RouteTable {
  readonly #root: Segment = emptySegment();

  /** @throws Error when a method of a path appears twice */
  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  #add(route: Route): void {
    const names: string[] = [];
    let segment = this.#root;
    for (const text of segmentsOf(route.path)) {
      const name = /^\{(\w+)\}$/.exec(text)?.[1];
      if (name !== undefined) names.push(name);
      const next =
        (name === undefined ? segment.fixed.get(text) : segment.parameter) ?? emptySegment();
      if (name === undefined) segment.fixed.set(text, next);
      else segment.parameter = next;
      segment = next;
    }
    segment.end ??= { methods: new Map(), names };
    const { methods } = segment.end;
    if (segment.end.names.join() !== names.join()) {
      throw new Error(`${route.path} names its parameters in two ways.`);
    }
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is there twice.`);
    methods.set(route.method, route);
  }

  /**
   * Finds the entry of a path; a trailing slash is ignored.
   *
   * @param path percent-encoded, with a leading slash
   * @throws URIError when a parameter is not percent-encoded UTF-8
   */
  find(path: string): RouteMatch | null {
    const texts = segmentsOf(path);
    const found = findEnd(this.#root, texts, 0, []);
    if (found === null) return null;
    const { methods, names } = found.end;
    const params = Object.fromEntries(
      names.map((name, place) => [name, decodeURIComponent(found.values[place] ?? "")]),
    );
    return { methods, params };
  }
}

function emptySegment(): Segment {
  return { fixed: new Map(), parameter: null, end: null };
}

function segmentsOf(path: string): string[] {
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  return path.slice(1, end).split("/");
}

interface FoundEnd {
  end: NonNullable<Segment["end"]>;
  values: readonly string[];
}

function findEnd(
  segment: Segment,
  texts: readonly string[],
  place: number,
  values: readonly string[],
): FoundEnd | null {
  const text = texts[place];
  if (text === undefined) return segment.end === null ? null : { end: segment.end, values };
  const fixed = segment.fixed.get(text);
  const found = fixed === undefined ? null : findEnd(fixed, texts, place + 1, values);
  if (found !== null || segment.parameter === null || text === "") return found;
  return findEnd(segment.parameter, texts, place + 1, [...values, text]);
}

/** The route of a path and a method. HEAD uses the GET route where that has no effect. */
export function findRoute(methods: ReadonlyMap<string, Route>, method: string): Route | undefined {
  if (method !== "HEAD") return methods.get(method);
  const route = methods.get("GET");
  return route !== undefined && answersHead(route) ? route : undefined;
}

/** The methods of a path, beside OPTIONS. */
export function allowedMethods(methods: ReadonlyMap<string, Route>): string[] {
  return [...methods].flatMap(([method, route]) =>
    method === "GET" && answersHead(route) ? ["GET", "HEAD"] : [method],
  );
}

/**
 * A HEAD must have no effect: programs send it to inspect an address, and nobody sees what it did.
 */
function answersHead({ ownPagesOnly, audit }: Route): boolean {
  return !ownPagesOnly && audit.length === 0;
}
