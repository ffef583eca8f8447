import { findStepType, jsonEquals } from "@workflow/definition";

/** What has become of one place in a step. */
export interface StepChange {
  /** JSON pointer into the step (RFC 6901). */
  path: string;
  kind: "added" | "removed" | "changed" | "nested";
  /** JSON of what was and is there; absent when there is nothing, or when it is large. */
  fromJson?: string;
  toJson?: string;
}

/** A step that both have, but not the same. */
export interface ModifiedStep {
  id: string;
  changes: StepChange[];
  /** Whether there are more changes than those. */
  truncated: boolean;
}

/** In what two lists of steps differ, nested steps included, each in document order. */
export interface StepsComparison {
  added: string[];
  removed: string[];
  modified: ModifiedStep[];
}

const CHANGES_MAX = 100;
const VALUE_CHARS_MAX = 1_000;

/**
 * Compares steps by their ids, wherever they stand. A step that holds steps is modified when one of
 * them comes, goes, moves or is modified; what changed inside of that one is told there.
 */
export function compareSteps(from: unknown, to: unknown): StepsComparison {
  const before = stepsById(from);
  const after = stepsById(to);
  const modified: ModifiedStep[] = [];
  for (const [id, step] of after) {
    const old = before.get(id);
    if (old === undefined || jsonEquals(old, step)) continue;
    modified.push({ id, ...listChanges(old, step) });
  }
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    modified,
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Every step of a stored list, in document order. */
function stepsById(steps: unknown, found = new Map<string, JsonObject>()): Map<string, JsonObject> {
  if (!Array.isArray(steps)) return found;
  for (const step of steps) {
    if (!isObject(step)) continue;
    if (typeof step["id"] === "string") found.set(step["id"], step);
    for (const nested of nestedLists(step)) stepsById(nested, found);
  }
  return found;
}

/** The lists of steps that a step holds. */
function nestedLists({ type, config }: JsonObject): unknown[] {
  if (typeof type !== "string" || !isObject(config)) return [];
  return (
    findStepType(type)
      ?.blocks(config)
      .map(({ steps }) => steps) ?? []
  );
}

function listChanges(from: JsonObject, to: JsonObject): Omit<ModifiedStep, "id"> {
  const nested = new Set([...nestedLists(from), ...nestedLists(to)]);
  const changes: StepChange[] = [];
  collectChanges(from, to, "", { nested, changes });
  return { changes: changes.slice(0, CHANGES_MAX), truncated: changes.length > CHANGES_MAX };
}

interface Collection {
  /** Lists of steps; their items count by their ids. */
  readonly nested: ReadonlySet<unknown>;
  readonly changes: StepChange[];
}

function collectChanges(from: unknown, to: unknown, path: string, collection: Collection): void {
  const { nested, changes } = collection;
  const isSameKind = Array.isArray(from) === Array.isArray(to);
  if (!isContainer(from) || !isContainer(to) || !isSameKind) {
    if (from !== to) changes.push({ path, kind: "changed", ...shown({ from, to }) });
    return;
  }
  const holdsSteps = nested.has(from) && nested.has(to);
  const before = new Map<string, unknown>(Object.entries(from));
  const after = new Map<string, unknown>(Object.entries(to));
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    // One more than can be told says that there are more.
    if (changes.length > CHANGES_MAX) return;
    const place = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const old = before.get(key);
    const item = after.get(key);
    const tell = holdsSteps ? idOrValue : (value: unknown) => value;
    if (!after.has(key)) {
      changes.push({ path: place, kind: "removed", ...shown({ from: tell(old) }) });
    } else if (!before.has(key)) {
      changes.push({ path: place, kind: "added", ...shown({ to: tell(item) }) });
    } else if (!holdsSteps) {
      collectChanges(old, item, place, collection);
    } else if (idOrValue(old) !== idOrValue(item)) {
      changes.push({ path: place, kind: "changed", ...shown({ from: tell(old), to: tell(item) }) });
    } else if (!jsonEquals(old, item)) {
      changes.push({ path: place, kind: "nested" });
    }
  }
}

function shown({ from, to }: { from?: unknown; to?: unknown }) {
  const fromJson = toShortJson(from);
  const toJson = toShortJson(to);
  return {
    ...(fromJson === undefined ? {} : { fromJson }),
    ...(toJson === undefined ? {} : { toJson }),
  };
}

function toShortJson(value: unknown): string | undefined {
  const json = value === undefined ? undefined : JSON.stringify(value);
  return json !== undefined && json.length <= VALUE_CHARS_MAX ? json : undefined;
}

function idOrValue(step: unknown): unknown {
  return isObject(step) ? step["id"] : step;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isObject(value: unknown): value is JsonObject {
  return isContainer(value) && !Array.isArray(value);
}
