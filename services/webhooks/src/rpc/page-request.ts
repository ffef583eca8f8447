import type { CursorCodec } from "@workflow/db";
import type { PageInfo, PageRequest } from "@workflow/proto/common/v1/common";
import { parseLimit } from "./page-limit.ts";

/** A page of a list that is in the order of its ids (D6). */
export interface PageStart {
  limit: number;
  /** The last id of the page before; null: from the beginning. */
  afterId: string | null;
}

/**
 * Reads a limit and a cursor.
 *
 * @throws AppError BAD_REQUEST for a limit that is out of range, or a cursor of another list
 */
export function parsePage(
  cursors: CursorCodec,
  binding: string,
  page: PageRequest | undefined,
): PageStart {
  const limit = parseLimit(page?.limit ?? 0);
  const cursor = page?.cursor ?? "";
  if (cursor === "") return { limit, afterId: null };
  const [afterId] = cursors.decode(binding, cursor);
  // Cursors are signed, so one that decodes was made below.
  if (afterId === undefined) throw new Error("A cursor holds no position.");
  return { limit, afterId };
}

/** @param lastId the id after which the next page begins; null at the end */
export function toPageInfo(cursors: CursorCodec, binding: string, lastId: string | null): PageInfo {
  return {
    cursor: lastId === null ? "" : cursors.encode(binding, [lastId]),
    hasMore: lastId !== null,
  };
}
