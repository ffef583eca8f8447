import { isJsonObject } from "@workflow/json";
import { readPath, writePath } from "./json-path.ts";
import type { Paging, ProviderAnswer, RequestParts } from "./provider-manifest.ts";

/** The default and the largest number of a list's items. */
export const LIST_LIMITS = { default: 100, max: 1_000 } as const;

/** The empty pages in a row after which a list ends. Some providers filter after paging. */
export const EMPTY_PAGES_MAX = 5;

/** The position of a list between two pages. */
export interface PageState {
  items: unknown[];
  /** The number of pages so far. */
  pages: number;
}

/**
 * The request for the next page.
 *
 * @param next the parameter of the page, from `nextPage`; null for the first page
 * @param wanted the number of missing items
 */
export function pageRequest(
  paging: Paging,
  first: RequestParts,
  state: PageState,
  { next, wanted }: { next: string | number | null; wanted: number },
): RequestParts {
  const { next: way, size } = paging;
  if (next !== null && (way.kind === "url" || way.kind === "link")) {
    return { ...first, path: String(next), query: {} };
  }
  const added: Record<string, string | number> = {};
  if (way.kind === "page") added[way.param] = way.first + state.pages;
  else if (way.kind === "offset") added[way.param] = (way.first ?? 0) + state.items.length;
  else if (next !== null && (way.kind === "cursor" || way.kind === "last")) added[way.param] = next;
  if (size !== undefined) added[size.param] = pageSize(paging, wanted);
  if (typeof paging.in === "object")
    return { ...first, query: withWords(first.query, paging.in, added) };
  if (paging.in !== "body") return { ...first, query: { ...first.query, ...added } };
  const body = isJsonObject(first.body) ? structuredClone(first.body) : {};
  for (const [param, value] of Object.entries(added)) writePath(body, param, value);
  return { ...first, body };
}

function withWords(
  query: RequestParts["query"],
  { textOf }: { textOf: string },
  added: Record<string, string | number>,
): RequestParts["query"] {
  const words = Object.entries(added).map(([name, value]) => `${name} ${value}`);
  return { ...query, [textOf]: [query[textOf], ...words].join(" ") };
}

/**
 * The number of items to ask for. Paging by page number always asks for the most, since pages of different
 * sizes do not fit together.
 */
export function pageSize({ next, size }: Paging, wanted: number): number {
  const most = size?.max ?? wanted;
  return next.kind === "page" ? most : Math.max(size?.min ?? 1, Math.min(most, wanted));
}

/** The items of a page; empty for a body without items. */
export function itemsOf({ items }: Paging, { body }: ProviderAnswer): unknown[] {
  const found = readPath(body, items);
  return Array.isArray(found) ? found : [];
}

/** Whether answers can mark a full page as the last one. */
export function mayTellMore({ next }: Paging): boolean {
  if (next.kind === "offset") return next.total !== undefined;
  return next.kind !== "page" || next.more !== undefined;
}

/** Whether this answer tells if there are more items. */
export function tellsMore(paging: Paging, answer: ProviderAnswer): boolean {
  const { next } = paging;
  return next.kind === "offset" ? totalOf(next, answer) !== null : mayTellMore(paging);
}

/** The total number of items; null where the answer has none or a negative one. */
function totalOf({ total }: { total?: string | undefined }, { body }: ProviderAnswer) {
  const count = total === undefined ? undefined : readPath(body, total);
  const isCount = typeof count === "number" || (typeof count === "string" && count !== "");
  return isCount && Number(count) >= 0 ? Number(count) : null;
}

/**
 * The parameters of the next page; null when there is none. Without any sign, a full page has a next one.
 *
 * @param state with the items of this page
 * @param count the number of items of this page
 * @param asked the number of items that the request asked for
 */
export function nextPage(
  paging: Paging,
  answer: ProviderAnswer,
  state: PageState,
  { count, asked }: { count: number; asked: number },
): string | number | null {
  const { next } = paging;
  if (next.kind === "link") return nextLink(answer.headers["link"]);
  if (next.kind === "cursor" || next.kind === "url") {
    return scalarOf(readPath(answer.body, next.from));
  }
  if (count === 0) return null;
  if (next.kind === "last") {
    if (readPath(answer.body, next.more) !== true) return null;
    return scalarOf(readPath(answer.body, `${paging.items}.$last.${next.from}`));
  }
  if (next.kind === "offset") {
    const total = totalOf(next, answer);
    if (total !== null) return state.items.length < total ? state.items.length : null;
    return count >= asked ? state.items.length : null;
  }
  if (next.more !== undefined) {
    return readPath(answer.body, next.more) === true ? state.pages : null;
  }
  return count >= (paging.size?.max ?? asked) ? state.pages : null;
}

function scalarOf(value: unknown): string | number | null {
  return (typeof value === "string" && value !== "") || typeof value === "number" ? value : null;
}

/** The target of rel="next" in a Link header (RFC 8288). */
function nextLink(header: string | undefined): string | null {
  for (const link of header?.split(/,\s*(?=<)/) ?? []) {
    const [, target, params = ""] = /^<([^>]*)>(.*)$/.exec(link.trim()) ?? [];
    if (target !== undefined && /;\s*rel="?(?:[^"]* )?next(?: [^"]*)?"?/.test(params))
      return target;
  }
  return null;
}
