import { PROVIDERS } from "../providers/index.ts";
import type { Block, BlockKind, BlockSource } from "./block.ts";
import { CORE_ACTION_BLOCKS } from "./core-actions.ts";
import { CORE_STEP_BLOCKS } from "./core-steps.ts";
import { integrationOf } from "./integrations.ts";
import { toBlock } from "./to-block.ts";
import { OWN_TRIGGERS, triggerOf } from "./triggers.ts";

const present = (source: BlockSource | undefined): source is BlockSource => source !== undefined;

const SOURCES: readonly BlockSource[] = [
  ...CORE_ACTION_BLOCKS,
  ...CORE_STEP_BLOCKS,
  ...PROVIDERS.map(integrationOf).filter(present),
  ...OWN_TRIGGERS,
  ...PROVIDERS.map(triggerOf).filter(present),
];

const visible = SOURCES.filter(({ hidden }) => hidden !== true);
const byType = new Map(visible.map((source) => [source.type, source]));
/** Created on first use, as generating all JSON Schemas takes a while. */
const made = new Map<BlockSource, Block>();

/** The catalog: all blocks, or those of a kind, without hidden ones. */
export function listBlocks(kind?: BlockKind): Block[] {
  return [...eachBlock(kind)];
}

/** Like `listBlocks`, one by one: creating all for the first time takes some 80 ms. */
export function* eachBlock(kind?: BlockKind): Generator<Block> {
  for (const source of visible) {
    if (kind === undefined || source.kind === kind) yield blockOf(source);
  }
}

/** The block of this type; undefined for unknown and for hidden blocks. */
export function findBlock(type: string): Block | undefined {
  const source = byType.get(type);
  return source === undefined ? undefined : blockOf(source);
}

function blockOf(source: BlockSource): Block {
  const block = made.get(source) ?? toBlock(source);
  made.set(source, block);
  return block;
}
