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
 * The violations in the inputs of a provider's action, at paths below the config. Undefined when the action
 * does not exist. A template may replace any value, at any depth, and a part of any text; the step checks the
 * value that the template gives. Fields that do not apply are ignored, and so are unknown keys.
 *
 * @param isResolved whether known templates have their values; values without effect are then ignored
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
  // Null and an empty text count as absent. A required field has reported that before.
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
 * An issue, or none where a template may still correct the value. Such a template stands in place of the
 * value, in a text with a format, or inside a value that the schema's refinements compare.
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
