import type { ActionInput } from "../action-input.ts";
import type { FieldCondition } from "../field-condition.ts";
import type { SubBlock } from "./block.ts";

/** An input of an action. Null: an input of the block, for all actions. */
export interface Field {
  readonly input: ActionInput;
  readonly action: string | null;
}

/**
 * The fields for the inputs of a block. Inputs of several actions that look alike share one, which is visible
 * for these actions.
 *
 * @param choices the number of actions to choose from; a field for all of them needs no condition
 */
export function toSubBlocks(fields: readonly Field[], choices: number): SubBlock[] {
  const alike = Map.groupBy(fields, ({ input, action }) => {
    const { key, title, control, options, visibleWhen, requiredWhen } = input;
    return JSON.stringify([
      key,
      title,
      control,
      options,
      visibleWhen,
      requiredWhen,
      action === null,
    ]);
  });
  return [...alike.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { key, title, control, options, visibleWhen, requiredWhen } = first.input;
    return [
      {
        id: key,
        type: control,
        title,
        ...requirementOf(same, requiredWhen),
        visibleWhen: visibilityOf(same, choices, visibleWhen),
        options,
      },
    ];
  });
}

/** Whether all or some actions require the field, or its own condition does. */
function requirementOf(
  same: readonly Field[],
  requiredWhen: FieldCondition | undefined,
): Pick<SubBlock, "required" | "requiredWhen"> {
  const needing = same.filter(({ input }) => input.required === true);
  if (needing.length === same.length) return { required: true };
  if (needing.length === 0) return { requiredWhen };
  if (requiredWhen === undefined) return { requiredWhen: forActions(needing) };
  throw new Error(`The input ${same[0]?.input.key ?? ""} is required in two ways.`);
}

function visibilityOf(
  same: readonly Field[],
  choices: number,
  visibleWhen: FieldCondition | undefined,
): FieldCondition | undefined {
  const isOfAll = same[0]?.action === null || same.length === choices;
  if (isOfAll) return visibleWhen;
  const chosen = forActions(same);
  return visibleWhen === undefined ? chosen : { ...chosen, and: visibleWhen };
}

function forActions(fields: readonly Field[]): FieldCondition {
  const ids = fields.flatMap(({ action }) => (action === null ? [] : [action]));
  const [only] = ids;
  return { field: "action", value: ids.length === 1 && only !== undefined ? only : ids };
}
