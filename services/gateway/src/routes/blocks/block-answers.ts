import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { eachBlock, findBlock } from "@workflow/catalog";
import type { Block, BlockKind } from "@workflow/catalog";
import { RawJson } from "../../http/write-json.ts";

/** A part of the catalog as it is answered. The same for everybody, for as long as this process lives. */
interface BlockAnswer {
  readonly data: RawJson;
  readonly etag: string;
}

/** By kind, and for all of them together: made once, for the catalog is data of this version. */
const lists = new Map<BlockKind | "all", Promise<BlockAnswer>>();
const single = new Map<string, BlockAnswer>();

/** The blocks of a kind, or all. */
export function answerOfList(kind: BlockKind | undefined): Promise<BlockAnswer> {
  const known = lists.get(kind ?? "all") ?? makeList(kind);
  lists.set(kind ?? "all", known);
  return known;
}

/** Others have a turn between two blocks. */
async function makeList(kind: BlockKind | undefined): Promise<BlockAnswer> {
  const blocks: Block[] = [];
  for (const block of eachBlock(kind)) {
    blocks.push(block);
    await setImmediate();
  }
  return toAnswer(blocks);
}

/** The block of a type; undefined where there is none that may be seen. */
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
