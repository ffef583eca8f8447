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
/** Made when they are first asked for: the JSON Schemas of all take a while. */
const made = new Map<BlockSource, Block>();

/** The catalog: all blocks, or those of a kind; hidden ones are in neither. */
export function listBlocks(kind?: BlockKind): Block[] {
  return [...eachBlock(kind)];
}

/** The same one by one: making all for the first time takes some 80 ms. */
export function* eachBlock(kind?: BlockKind): Generator<Block> {
  for (const source of visible) {
    if (kind === undefined || source.kind === kind) yield blockOf(source);
  }
}

/** The block of this type; undefined where there is none, or where it is hidden. */
export function findBlock(type: string): Block | undefined {
  const source = byType.get(type);
  return source === undefined ? undefined : blockOf(source);
}

function blockOf(source: BlockSource): Block {
  const block = made.get(source) ?? toBlock(source);
  made.set(source, block);
  return block;
}
