import type { PageInfo } from "@workflow/proto/common/v1/common";
import type { Writable } from "../http/write-json.ts";

/** `meta` of a keyset-paged list (D6). */
export function pageMeta(page: PageInfo | undefined): Writable {
  return { cursor: page?.cursor || null, hasMore: page?.hasMore ?? false };
}
