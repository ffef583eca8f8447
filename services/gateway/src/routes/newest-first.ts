import { isUuid } from "@workflow/db";
import type { CursorCodec } from "@workflow/db";
import { z } from "zod";
import type { Writable } from "../http/write-json.ts";
import { pageFields, pageLimit } from "./fields.ts";

/** The position of the last item in the order createdAt, id, the newest first (D6). */
export interface Position {
  createdAt: Date;
  id: string;
}

const PAGE_MAX = 1_000;

/** The parameters of a list that usually fits one page: by default up to 1,000 items. */
export const wholePageFields = z.object({
  ...pageFields,
  limit: pageLimit({ max: PAGE_MAX, otherwise: PAGE_MAX }),
});

/** The requested page. */
export interface PageRequest {
  cursors: CursorCodec;
  /** The scope of a cursor: list, company and filters. */
  binding: readonly (string | null)[];
  query: { limit: number; cursor: string };
}

/**
 * One page of a list with ids in UUID form.
 *
 * @param read returns as many items as it is told, from after a position
 * @throws AppError BAD_REQUEST for a cursor of another list
 */
export async function readNewestFirst<Item>(
  { cursors, binding, query: { limit, cursor } }: PageRequest,
  read: (page: { after: Position | null; limit: number }) => Promise<readonly Item[]>,
  positionOf: (item: Item) => Position,
): Promise<{ items: readonly Item[]; meta: Writable }> {
  const bound = JSON.stringify(binding);
  const after = cursor === "" ? null : toPosition(cursors.decode(bound, cursor));
  const found = await read({ after, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  if (last === undefined) return { items, meta: { cursor: null, hasMore: false } };
  const { createdAt, id } = positionOf(last);
  const next = cursors.encode(bound, [createdAt.toISOString(), id]);
  return { items, meta: { cursor: next, hasMore: true } };
}

function toPosition([createdAt = "", id = ""]: readonly string[]): Position {
  if (!isUuid(id)) throw new Error("A signed cursor holds something else.");
  return { createdAt: new Date(createdAt), id };
}
