import { isUuid } from "@workflow/db";
import { isStorableText } from "@workflow/json";
import { EVENT_TYPES } from "../event-types/event-types.ts";
import { wrongField } from "./wrong-field.ts";

const NAME_CHARS_MAX = 255;
const DESCRIPTION_CHARS_MAX = 1_000;
const WORKFLOW_IDS_MAX = 100;
const RATE_LIMIT_MAX = 1_000;
const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES.map(({ type }) => type));

/**
 * Checks a name.
 *
 * @throws AppError BAD_REQUEST when it is empty, too long or can't be stored
 */
export function checkName(name: string): string {
  if (name === "") throw wrongField("name", `must have 1 to ${NAME_CHARS_MAX} characters`);
  return checkText("name", name, NAME_CHARS_MAX);
}

/**
 * Checks a description; an empty one is none.
 *
 * @throws AppError BAD_REQUEST
 */
export function checkDescription(description: string): string | null {
  return checkText("description", description, DESCRIPTION_CHARS_MAX) || null;
}

/**
 * Checks the types of events that an endpoint receives.
 *
 * @throws AppError BAD_REQUEST
 */
export function checkEvents(types: readonly string[]): readonly string[] {
  requireSome("events", types, KNOWN_TYPES.size);
  for (const [index, type] of types.entries()) {
    if (!KNOWN_TYPES.has(type)) {
      throw wrongField(["events", `${index}`], `must be one of ${[...KNOWN_TYPES].join(", ")}`);
    }
  }
  return types;
}

/**
 * Checks the workflows whose events an endpoint receives, and returns their ids in the events' form.
 * The workflows need not exist: an endpoint may be created before its workflow, and outlive it.
 *
 * @throws AppError BAD_REQUEST
 */
export function checkWorkflowIds(workflowIds: readonly string[]): readonly string[] {
  const ids = workflowIds.map((id) => id.toLowerCase());
  requireSome("workflowIds", ids, WORKFLOW_IDS_MAX);
  for (const [index, id] of ids.entries()) {
    if (!isUuid(id)) throw wrongField(["workflowIds", `${index}`], "must be a UUID");
  }
  return ids;
}

/**
 * Checks a limit of attempts per second.
 *
 * @throws AppError BAD_REQUEST
 */
export function checkRateLimit(perSecond: number): number {
  if (Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= RATE_LIMIT_MAX)
    return perSecond;
  throw wrongField("rateLimitPerSecond", `must be a whole number from 1 to ${RATE_LIMIT_MAX}`);
}

function checkText(field: string, text: string, charsMax: number): string {
  if (text.length > 2 * charsMax || Array.from(text).length > charsMax) {
    throw wrongField(field, `must have at most ${charsMax} characters`);
  }
  if (!isStorableText(text)) {
    throw wrongField(field, "must not contain NUL or unpaired surrogates");
  }
  return text;
}

function requireSome(field: string, values: readonly string[], max: number): void {
  if (values.length === 0) throw wrongField(field, "must name at least one; null stands for all");
  if (new Set(values).size !== values.length) throw wrongField(field, "must not name one twice");
  if (values.length > max) throw wrongField(field, `must name at most ${max}`);
}
