import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { eachBlock, findBlock } from "@workflow/catalog";
import type { Block, BlockKind } from "@workflow/catalog";
import { RawJson } from "../../http/write-json.ts";

/** An answer of the catalog, which stays the same while the process lives. */
interface BlockAnswer {
  readonly data: RawJson;
  readonly etag: string;
}

/** By kind, and for all kinds: built once, because the catalog is data of this version. */
const lists = new Map<BlockKind | "all", Promise<BlockAnswer>>();
const single = new Map<string, BlockAnswer>();

/** The blocks of a kind, or all. */
export function answerOfList(kind: BlockKind | undefined): Promise<BlockAnswer> {
  const known = lists.get(kind ?? "all") ?? makeList(kind);
  lists.set(kind ?? "all", known);
  return known;
}

/** The event loop serves other requests between two blocks. */
async function makeList(kind: BlockKind | undefined): Promise<BlockAnswer> {
  const blocks: Block[] = [];
  for (const block of eachBlock(kind)) {
    blocks.push(block);
    await setImmediate();
  }
  return toAnswer(blocks);
}

/** The block of a type; undefined for an unknown or hidden one. */
export function answerOfBlock(type: string): BlockAnswer | undefined {
  const known = single.get(type);
  if (known !== undefined) return known;
  const block = findBlock(type);
  if (block === undefined) return undefined;
  const made = toAnswer(block);
  single.set(type, made);
  return made;
}

function toAnswer(value: unknown): BlockAnswer {
  const text = JSON.stringify(value);
  const hash = createHash("sha256").update(text).digest("base64url");
  return { data: new RawJson(text), etag: `"${hash}"` };
}
