import type { ActionInput, Control, InputOption, InputType } from "../action-input.ts";
import type { FieldCondition } from "../field-condition.ts";

/** The kinds of blocks (D62). */
export const BLOCK_KINDS = ["core", "integrations", "triggers"] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

/** One entry of the catalog. All companies see the same entry. */
export interface Block {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly kind: BlockKind;
  readonly category?: string | undefined;
  /** Whether every use of the block needs a connection to the provider. */
  readonly connectionRequired: boolean;
  /** Ids of actions; empty for a step type or a trigger. */
  readonly actions: readonly string[];
  /** One entry for each key. */
  readonly inputs: readonly BlockInput[];
  /** The names of the output's members, of all actions together. */
  readonly outputs: readonly string[];
  readonly subBlocks: readonly SubBlock[];
  /** The path, relative to the origin. */
  readonly links: { readonly self: string; readonly collection: string };
}

/** A key of the configuration and the type of its value. */
export interface BlockInput {
  readonly key: string;
  readonly type: InputType;
  readonly description?: string | undefined;
  /** JSON Schema (draft 2020-12) of a value without templates, where the schema says more than the type. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

/** A field for one key. Different actions may have fields with one id; at most one of these fields applies. */
export interface SubBlock {
  /** The key of the field's input. */
  readonly id: string;
  readonly type: Control;
  readonly title?: string | undefined;
  readonly required?: boolean | undefined;
  readonly requiredWhen?: FieldCondition | undefined;
  readonly visibleWhen?: FieldCondition | undefined;
  readonly options?: readonly InputOption[] | undefined;
}

/** The declaration of a block. */
export interface BlockSource extends Pick<Block, "type" | "name" | "description" | "kind"> {
  readonly category?: string | undefined;
  readonly connectionRequired?: boolean | undefined;
  /** Whether the block is internal: no list and no search shows it. */
  readonly hidden?: boolean | undefined;
  /** The inputs of every configuration, whatever its action. */
  readonly inputs?: readonly ActionInput[] | undefined;
  readonly actions?: readonly BlockAction[] | undefined;
  /** The inputs of a block without a choice of actions; the step's type is the block's type. */
  readonly withoutAction?: readonly ActionInput[] | undefined;
  readonly outputs?: readonly string[] | undefined;
}

/** An action as a block shows it. */
export interface BlockAction {
  /** The part of the id behind the block's type and a dot. */
  readonly name: string;
  readonly title: string;
  readonly inputs: readonly ActionInput[];
  readonly outputs: readonly string[];
}
