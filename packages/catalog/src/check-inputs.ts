import { z } from "zod";
import type { ActionInput } from "./action-input.ts";
import { boundedMessages, firstIssues, issueProblems } from "./issue-words.ts";
import { describeWrongChoice } from "./option-words.ts";
import { findOversizedInput, INPUT_ENTRIES_MAX } from "./input-size.ts";
import { LIST_LIMITS } from "./pages.ts";
import { conditionHolds, describeCondition } from "./field-condition.ts";
import type { FieldCondition } from "./field-condition.ts";
import { lacksPartner, relationProblem } from "./input-relations.ts";
import type { IsGiven } from "./input-relations.ts";
import type { ActionManifest } from "./provider-manifest.ts";

/** The problem of one input. */
export interface InputProblem {
  path: string[];
  message: string;
}

/** The number of items of a list; added to every action that has pages. */
const limitInput: ActionInput = {
  key: "limit",
  type: "number",
  title: "Limit",
  description: `How many items to return at most, all pages together; ${LIST_LIMITS.default} where it is not given`,
  schema: z.int().min(1).max(LIST_LIMITS.max),
  control: "short-input",
  in: "none",
};

/** All inputs of an action, including those that every action of its kind has. */
export function inputsOf(action: ActionManifest): readonly ActionInput[] {
  return action.paging === undefined ? action.inputs : [...action.inputs, limitInput];
}

/**
 * The problems of missing inputs and of inputs that exclude each other. `required` counts where the field
 * applies, `requiredWhen` where that condition holds as well. An empty text and null count as missing.
 * Nothing is reported where a template decides.
 */
export function findMissingInputs(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
  isTemplate: (value: unknown) => boolean = () => false,
): InputProblem[] {
  const holds = (condition: FieldCondition): boolean =>
    conditionHolds(condition, inputs, isTemplate) === true;
  const isGiven = givenAmong(action, inputs, isTemplate);
  return inputsOf(action).flatMap((input) => {
    const { key, required, requiredWhen, visibleWhen } = input;
    if (visibleWhen !== undefined && !holds(visibleWhen)) return [];
    const related = relationProblem(input, isGiven);
    if (related !== undefined) return [{ path: [key], message: related }];
    if (!isMissing(inputs, key)) return [];
    if (required === true) return [{ path: [key], message: "is required" }];
    if (requiredWhen === undefined || !holds(requiredWhen)) return [];
    const message = `is required, since ${describeCondition(requiredWhen)}`;
    return [{ path: [key], message }];
  });
}

/**
 * The literal values without effect, because the input that they belong to is absent. `false` counts as
 * absent. Only validation reports these values: at execution a template may have given null.
 */
export function findUselessInputs(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
  isTemplate: (value: unknown) => boolean,
): InputProblem[] {
  const isGiven = givenAmong(action, inputs, isTemplate);
  return inputsOf(action).flatMap((input) => {
    const { key, onlyWith } = input;
    const asks = isGiven(key) === true && inputs[key] !== false;
    if (!asks || !lacksPartner(input, isGiven)) return [];
    return [{ path: [key], message: `must only be given together with ${onlyWith}` }];
  });
}

/** Keys that the provider no longer accepts. Without a report the call would do something else. */
export function findRenamedInputs(
  { renamed = {} }: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
): InputProblem[] {
  return Object.entries(renamed).flatMap(([key, successor]) => {
    if (isMissing(inputs, key)) return [];
    return [
      { path: [key], message: `is no longer taken by the provider; give ${successor} instead` },
    ];
  });
}

/** The keys whose values are neither checked nor sent, whatever templates become. */
export function findIgnoredKeys(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
  isTemplate: (value: unknown) => boolean = () => false,
): ReadonlySet<string> {
  const isGiven = givenAmong(action, inputs, isTemplate);
  const ignored = inputsOf(action).filter(
    (input) =>
      isNeverVisible(input, inputs, isTemplate) ||
      lacksPartner(input, isGiven) ||
      isEmptyAlternative(action, input, inputs),
  );
  return new Set(ignored.map(({ key }) => key));
}

/** A value counts while its field applies. A template may become nothing. */
function givenAmong(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
  isTemplate: (value: unknown) => boolean,
): IsGiven {
  const byKey = new Map(inputsOf(action).map((field) => [field.key, field]));
  return (key) => {
    const field = byKey.get(key);
    if (field === undefined || isMissing(inputs, key)) return false;
    if (isEmptyAlternative(action, field, inputs)) return false;
    if (isTemplate(inputs[key])) return null;
    return field.visibleWhen === undefined
      ? true
      : conditionHolds(field.visibleWhen, inputs, isTemplate);
  };
}

/** Whether a field does not apply, whatever templates become. */
function isNeverVisible(
  { visibleWhen }: ActionInput,
  inputs: Readonly<Record<string, unknown>>,
  isTemplate: (value: unknown) => boolean,
): boolean {
  return visibleWhen !== undefined && conditionHolds(visibleWhen, inputs, isTemplate) === false;
}

/** An empty list does not count where one of several inputs is required. */
function isEmptyAlternative(
  action: ActionManifest,
  { key, schema, requiredWithout }: ActionInput,
  inputs: Readonly<Record<string, unknown>>,
): boolean {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  if (!Array.isArray(value) || value.length > 0 || !(schema instanceof z.ZodArray)) return false;
  const isAlternativeOf = (other: ActionInput) => other.requiredWithout?.includes(key) === true;
  return requiredWithout !== undefined || action.inputs.some(isAlternativeOf);
}

function isMissing(inputs: Readonly<Record<string, unknown>>, key: string): boolean {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  return value === undefined || value === null || value === "";
}

/**
 * The problems of resolved inputs; empty when the action can be called. Unknown keys and fields without
 * effect are ignored.
 */
export function checkInputs(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
): InputProblem[] {
  const fields = inputsOf(action);
  const oversized = findOversized(action, inputs);
  if (oversized.length > 0) return oversized;
  const ignored = findIgnoredKeys(action, inputs);
  const wrong = fields.flatMap((input) => {
    const { key, schema } = input;
    if (isMissing(inputs, key) || ignored.has(key)) return [];
    const parsed = schema.safeParse(inputs[key], { error: boundedMessages() });
    if (parsed.success) return [];
    return issueProblems(firstIssues(parsed.error)).map(({ path, message }) => ({
      path: [key, ...path],
      message: path.length > 0 ? message : describeWrongChoice(input, inputs[key], message),
    }));
  });
  return [...findRenamedInputs(action, inputs), ...findMissingInputs(action, inputs), ...wrong];
}

/** The problem of inputs with too many entries to check; empty for other inputs. */
export function findOversized(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
): InputProblem[] {
  const key = findOversizedInput(inputsOf(action), inputs);
  if (key === undefined) return [];
  const message = `is too large: arrays and objects of an action's inputs have at most ${INPUT_ENTRIES_MAX} entries together`;
  return [{ path: [key], message }];
}
