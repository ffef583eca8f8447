import {
  boundedMessages,
  describeWrongChoice,
  findIgnoredKeys,
  findMissingInputs,
  findOversized,
  findProviderAction,
  findRenamedInputs,
  findUselessInputs,
  firstIssues,
  inputsOf,
} from "@workflow/catalog";
import type { ActionInput } from "@workflow/catalog";
import type { Violation } from "@workflow/errors";
import { isJsonObject, ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { z } from "zod";
import { listReferences } from "../template-scan.ts";
import { hasTemplate, isOneTemplate, orTemplate, violationsOf } from "../zod-messages.ts";

/**
 * What is wrong with the inputs of a provider's action, at paths below the config; undefined when there is
 * no such action. A template may stand for any value, at any depth, and for a part of any text: what it
 * brings is checked where the step runs. Fields that do not apply, and keys of no field, are left alone.
 *
 * @param isResolved whether known templates have their values: what came to have no effect is then left alone
 */
export function findProviderProblems(
  id: string,
  config: JsonObject,
  isResolved = false,
): Violation[] | undefined {
  const found = findProviderAction(id);
  if (found === undefined) return undefined;
  const { action } = found;
  const oversized = findOversized(action, config);
  if (oversized.length > 0) return oversized;
  const ignored = findIgnoredKeys(action, config, hasTemplate);
  const seen = inputsOf(action).filter(({ key }) => !ignored.has(key));
  return [
    ...findRenamedInputs(action, config),
    ...findMissingInputs(action, config, hasTemplate),
    ...(isResolved ? [] : findUselessInputs(action, config, hasTemplate)),
    ...seen.flatMap((input) => wrongValue(input, config)),
  ];
}

function wrongValue(input: ActionInput, config: JsonObject): Violation[] {
  const { key } = input;
  const value = ownProperty(config, key);
  // Null and an empty text are nothing given, which was told already where something has to be.
  if (value === undefined || value === null || value === "") return [];
  if (isOneTemplate(value)) return [];
  const parsed = input.schema.safeParse(value, { error: boundedMessages() });
  if (parsed.success) return [];
  const issues = firstIssues(parsed.error).flatMap((issue) => withoutExcused(issue, value));
  return violationsOf(issues).map(({ path, message }) => ({
    path: [key, ...path],
    message:
      path.length > 0
        ? message
        : `${describeWrongChoice(input, value, message)}${orTemplate(value)}`,
  }));
}

/**
 * An issue, or none where a template may still make right what is wrong: one that stands for the value,
 * one in a text of a certain form, and one inside a value that its schema's refinements compare.
 */
function withoutExcused(issue: z.core.$ZodIssue, root: unknown): z.core.$ZodIssue[] {
  const value = valueAt(root, issue.path);
  if (hasTemplate(value) && (isOneTemplate(value) || !isOfOtherKind(issue))) return [];
  if (issue.code === "custom" && listReferences(value).length > 0) return [];
  if (issue.code !== "invalid_union" || issue.inclusive === false) return [issue];
  const errors = issue.errors.map((member) =>
    member.flatMap((inner) => withoutExcused(inner, value)),
  );
  const fits = errors.some((member, index) => member.length === 0 && issue.errors[index]?.length);
  return fits ? [] : [{ ...issue, errors }];
}

function isOfOtherKind(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_union";
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) ? ownProperty(value, String(key)) : undefined;
  }
  return value;
}
