import type { ActionInput, Control, InputOption, InputType } from "../action-input.ts";
import type { FieldCondition } from "../field-condition.ts";

/** The kinds of blocks (D62). */
export const BLOCK_KINDS = ["core", "integrations", "triggers"] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

/** One entry of the catalog, as everybody sees it: nothing in it belongs to a company. */
export interface Block {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly kind: BlockKind;
  readonly category?: string | undefined;
  /** Whether nothing can be done without a connection to the provider. */
  readonly connectionRequired: boolean;
  /** Ids of actions; empty for a step type or a trigger. */
  readonly actions: readonly string[];
  /** One for each key. */
  readonly inputs: readonly BlockInput[];
  /** Names of the output's members, of all actions together. */
  readonly outputs: readonly string[];
  readonly subBlocks: readonly SubBlock[];
  /** Relative to the origin. */
  readonly links: { readonly self: string; readonly collection: string };
}

/** A key of the configuration and the type of its value. */
export interface BlockInput {
  readonly key: string;
  readonly type: InputType;
  readonly description?: string | undefined;
  /** JSON Schema (draft 2020-12) of a value without templates, where it says more than the type. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

/** A field for one key. Where actions differ there are several of one id, of which at most one applies. */
export interface SubBlock {
  /** The key of its input. */
  readonly id: string;
  readonly type: Control;
  readonly title?: string | undefined;
  readonly required?: boolean | undefined;
  readonly requiredWhen?: FieldCondition | undefined;
  readonly visibleWhen?: FieldCondition | undefined;
  readonly options?: readonly InputOption[] | undefined;
}

/** What a block is made from. */
export interface BlockSource extends Pick<Block, "type" | "name" | "description" | "kind"> {
  readonly category?: string | undefined;
  readonly connectionRequired?: boolean | undefined;
  /** Of the machinery: it is in no list, and nobody finds it. */
  readonly hidden?: boolean | undefined;
  /** What every configuration has, whatever its action. */
  readonly inputs?: readonly ActionInput[] | undefined;
  readonly actions?: readonly BlockAction[] | undefined;
  /** Where no action has to be chosen: the step has the block's type then, and these inputs. */
  readonly withoutAction?: readonly ActionInput[] | undefined;
  readonly outputs?: readonly string[] | undefined;
}

/** An action as a block shows it. */
export interface BlockAction {
  /** Behind the block's type and a dot. */
  readonly name: string;
  readonly title: string;
  readonly inputs: readonly ActionInput[];
  readonly outputs: readonly string[];
}
