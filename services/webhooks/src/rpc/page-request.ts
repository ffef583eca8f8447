import type { CursorCodec } from "@workflow/db";
import type { PageInfo, PageRequest } from "@workflow/proto/common/v1/common";
import { wrongField } from "../endpoints/wrong-field.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** Which page of a list that is in the order of its ids (D6). */
export interface PageStart {
  limit: number;
  /** The last id of the page before; null: from the beginning. */
  afterId: string | null;
}

/** Throws BAD_REQUEST for a limit that is out of range, and a cursor of another list. */
export function parsePage(
  cursors: CursorCodec,
  binding: string,
  page: PageRequest | undefined,
): PageStart {
  const limit = page?.limit || LIMIT_DEFAULT;
  if (limit < 1 || limit > LIMIT_MAX) {
    throw wrongField("limit", `must be between 1 and ${LIMIT_MAX}`);
  }
  const cursor = page?.cursor ?? "";
  if (cursor === "") return { limit, afterId: null };
  const [afterId] = cursors.decode(binding, cursor);
  // Cursors are signed: one that decodes was made below.
  if (afterId === undefined) throw new Error("A cursor holds no position.");
  return { limit, afterId };
}

/** @param lastId where the next page begins; null at the end */
export function toPageInfo(cursors: CursorCodec, binding: string, lastId: string | null): PageInfo {
  return {
    cursor: lastId === null ? "" : cursors.encode(binding, [lastId]),
    hasMore: lastId !== null,
  };
}
