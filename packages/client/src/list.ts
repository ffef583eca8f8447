import { callForEnvelope } from "./call.ts";
import type { Api } from "./api.ts";
import { asDescribed, isObject } from "./described.ts";
import { InvalidAnswerError } from "./errors.ts";
import type { AnyOptions, Call } from "./request.ts";

/** A part of a list, as one answer holds it. */
export interface Page<Item, Meta> {
  items: readonly Item[];
  /** Where the list continues and, for rows, their number. Undefined for lists of a single page. */
  meta: Meta;
}

/**
 * A list that is read on demand. Iterate over it for all items, or await it for the first page. Each iteration asks
 * the service again, and nothing is sent before. An async function that returns a list returns its first page,
 * because it awaits the result.
 */
export class List<Item, Meta = undefined>
  implements AsyncIterable<Item>, PromiseLike<Page<Item, Meta>>
{
  readonly #pages: () => AsyncGenerator<Page<Item, Meta>, void, undefined>;

  constructor(pages: () => AsyncGenerator<Page<Item, Meta>, void, undefined>) {
    this.#pages = pages;
  }

  /** The pages, in order. */
  pages(): AsyncGenerator<Page<Item, Meta>, void, undefined> {
    return this.#pages();
  }

  /** Every item. The next page is requested when the items before it are used up. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.#pages()) yield* items;
  }

  /** All items at once, in as many requests as that takes. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  /** Lets `await list` return the first page. */
  then<Kept = Page<Item, Meta>, Caught = never>(
    onPage?: ((page: Page<Item, Meta>) => Kept | PromiseLike<Kept>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#first().then(onPage, onError);
  }

  async #first(): Promise<Page<Item, Meta>> {
    for await (const page of this.#pages()) return page;
    throw new InvalidAnswerError("The list has no pages.", 200);
  }
}

/** The list whose first page a call returns. */
export function list<Item, Meta = undefined>(
  api: Api,
  what: Call,
  options: AnyOptions = {},
): List<Item, Meta> {
  return new List(() => readPages<Item, Meta>(api, what, options));
}

/**
 * A server that promises more and sends nothing is not asked for ever, whatever its cursors are.
 */
const EMPTY_PAGES_MAX = 100;

async function* readPages<Item, Meta>(
  api: Api,
  first: Call,
  options: AnyOptions,
): AsyncGenerator<Page<Item, Meta>, void, undefined> {
  let emptyPages = 0;
  for (let next: Call | null = first; next !== null;) {
    const { data, meta } = await callForEnvelope(api, next, options);
    const items = itemsOf(data, first.items);
    emptyPages = items.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > EMPTY_PAGES_MAX) {
      const message = `The list does not go on: ${emptyPages} pages in a row were empty.`;
      throw new InvalidAnswerError(message, 200);
    }
    yield { items: asDescribed(items), meta: asDescribed(meta) };
    next = following(next, meta, items.length);
  }
}

function itemsOf(data: unknown, member: string | undefined): unknown[] {
  const items = member === undefined ? data : isObject(data) && data[member];
  if (!Array.isArray(items)) throw new InvalidAnswerError("The answer holds no list.", 200);
  return items;
}

/**
 * The call of the next page; null behind the last one. Of rows an empty page is the last: they may be deleted while
 * they are read.
 *
 * @throws InvalidAnswerError when there is more and the page does not say where; a list cut short would look whole
 */
function following(last: Call, meta: unknown, count: number): Call | null {
  if (!isObject(meta) || meta["hasMore"] !== true) return null;
  const { cursor, offset } = meta;
  if (typeof cursor === "string") {
    if (last.query?.["cursor"] === cursor) {
      throw new InvalidAnswerError("The list does not go on: its cursor is the same again.", 200);
    }
    return { ...last, query: { ...last.query, cursor } };
  }
  if (typeof offset !== "number") {
    throw new InvalidAnswerError("The list does not go on: there is more, and no cursor.", 200);
  }
  if (count === 0) return null;
  const position = { offset: offset + count };
  if (last.method === "GET") return { ...last, query: { ...last.query, ...position } };
  return { ...last, body: { ...(isObject(last.body) ? last.body : {}), ...position } };
}
