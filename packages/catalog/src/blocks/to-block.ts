import { choice } from "../action-input.ts";
import type { ActionInput } from "../action-input.ts";
import { describeRelations } from "../input-relations.ts";
import { oneOf } from "../issue-words.ts";
import type { Block, BlockAction, BlockInput, BlockSource } from "./block.ts";
import { schemaOf } from "./input-schema.ts";
import { toSubBlocks } from "./to-sub-blocks.ts";
import type { Field } from "./to-sub-blocks.ts";

/** The catalog's path in the API. */
const COLLECTION = "/api/v1/blocks";

/** The field of a step that selects the action; no input of an action has this key. */
const ACTION_KEY = "action";

/** The catalog's form of a block. */
export function toBlock(source: BlockSource): Block {
  const { type, name, description, kind, category, connectionRequired = false } = source;
  const { actions = [], inputs = [], withoutAction, outputs = [] } = source;
  const idOf = (action: BlockAction): string => `${type}.${action.name}`;
  const ids = actions.map(idOf);
  const fields: Field[] = [
    ...actionField(source, idOf),
    ...inputs.map((input) => ({ input, action: null })),
    ...(withoutAction ?? []).map((input) => ({ input: hiddenByActions(input, ids), action: null })),
    ...actions.flatMap((action) => action.inputs.map((input) => ({ input, action: idOf(action) }))),
  ];
  // Where the action is optional, a field for all actions needs a condition, too.
  const choices = withoutAction === undefined ? ids.length : Infinity;
  return {
    type,
    name,
    description,
    kind,
    category,
    connectionRequired,
    actions: ids,
    inputs: toInputs(fields),
    outputs: [...new Set([...outputs, ...actions.flatMap((action) => action.outputs)])],
    subBlocks: toSubBlocks(fields, choices),
    links: { self: `${COLLECTION}/${encodeURIComponent(type)}`, collection: COLLECTION },
  };
}

function actionField(source: BlockSource, idOf: (action: BlockAction) => string): Field[] {
  const { actions = [], withoutAction } = source;
  if (actions.length === 0) return [];
  const options = actions.map((action) => ({ id: idOf(action), label: action.title }));
  const traits = {
    required: withoutAction === undefined,
    control: "combobox",
    description: "The action of the step; it stands beside the step's config, not in it",
  } as const;
  return [{ input: choice(ACTION_KEY, options, traits), action: null }];
}

function hiddenByActions(input: ActionInput, ids: readonly string[]): ActionInput {
  return {
    ...input,
    visibleWhen: { field: ACTION_KEY, value: ids, not: true, and: input.visibleWhen },
  };
}

/** One entry for each key. Schemas that differ by action become alternatives. */
function toInputs(fields: readonly Field[]): BlockInput[] {
  const byKey = Map.groupBy(fields, ({ input }) => input.key);
  return [...byKey].map(([key, same]) => {
    const types = [...new Set(same.map(({ input }) => input.type))];
    const [type = "json"] = types;
    if (types.length > 1) throw new Error(`The input ${key} has the types ${types.join(" and ")}.`);
    const schema = schemaOf(same.map(({ input }) => input));
    return { key, type, description: describe(same), schema };
  });
}

/** The description that all fields share, and their relations to other inputs. */
function describe(same: readonly Field[]): string | undefined {
  const said = [...new Set(same.map(({ input }) => input.description))];
  const byWords = Map.groupBy(same, ({ input }) => describeRelations(input));
  const relations = [...byWords].flatMap(([words, fields]) => {
    if (words === "") return [];
    if (byWords.size === 1) return [words];
    const actions = fields.flatMap(({ action }) => (action === null ? [] : [action]));
    return [actions.length === 0 ? words : `for ${oneOf(actions, "and")} ${words}`];
  });
  const own = said.length === 1 ? said[0] : undefined;
  const related = relations.join("; ");
  if (own !== undefined) return related === "" ? own : `${own}; ${related}`;
  // Only our own words get a capital letter, since a description may begin with an identifier.
  return related === "" ? undefined : related.charAt(0).toUpperCase() + related.slice(1);
}
