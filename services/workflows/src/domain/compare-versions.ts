import { findStepType } from "@workflow/definition";
import type { NestedBlock } from "@workflow/definition";
import { isJsonObject, jsonEquals } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { findMoved } from "./moved-steps.ts";
import type { StepPlace } from "./moved-steps.ts";

/** A change at one path of a step. */
export interface StepChange {
  /** JSON pointer into the step (RFC 6901); empty for the step itself. */
  path: string;
  kind: "added" | "removed" | "changed" | "nested" | "moved";
  /**
   * The JSON before and after; absent when there is none, or when it is large. For a step that
   * moved, JSON pointers into the workflow.
   */
  fromJson?: string;
  toJson?: string;
}

/** A step of both versions that has changed or moved. */
export interface ModifiedStep {
  id: string;
  changes: StepChange[];
  /** Whether there are more changes than listed. */
  truncated: boolean;
}

/** The differences of two lists of steps, nested steps included, in document order. */
export interface StepsComparison {
  added: string[];
  removed: string[];
  modified: ModifiedStep[];
}

const CHANGES_MAX = 100;
const VALUE_CHARS_MAX = 1_000;

/**
 * Compares steps by their ids, wherever they stand. A step that contains steps is modified when one
 * of them is added, removed, moved or modified; the nested step lists its own changes.
 */
export function compareSteps(from: unknown, to: unknown): StepsComparison {
  const before = stepsById(from);
  const after = stepsById(to);
  const moved = findMoved(before, after);
  const modified: ModifiedStep[] = [];
  for (const [id, found] of after) {
    const old = before.get(id);
    if (old === undefined) continue;
    const move = moved.has(id) ? [toMove(old, found)] : [];
    if (move.length === 0 && jsonEquals(old.step, found.step)) continue;
    modified.push({ id, ...listChanges(old.step, found.step, move) });
  }
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    modified,
  };
}

interface FoundStep extends StepPlace {
  step: JsonObject;
}

/** Every step of a stored list, in document order. */
function stepsById(
  steps: unknown,
  place: StepPlace = { pointer: "/steps", list: "" },
  found = new Map<string, FoundStep>(),
): Map<string, FoundStep> {
  if (!Array.isArray(steps)) return found;
  for (const [index, step] of steps.entries()) {
    if (!isJsonObject(step)) continue;
    const pointer = `${place.pointer}/${index}`;
    const { id } = step;
    if (typeof id === "string") found.set(id, { step, pointer, list: place.list });
    for (const block of blocksOf(step)) {
      const inside = {
        pointer: `${pointer}/config/${block.path.join("/")}`,
        list: JSON.stringify([id, block.label]),
      };
      stepsById(block.steps, inside, found);
    }
  }
  return found;
}

/** The lists of steps that a step contains. */
function blocksOf({ type, config }: JsonObject): readonly NestedBlock[] {
  if (typeof type !== "string" || !isJsonObject(config)) return [];
  return findStepType(type)?.blocks(config) ?? [];
}

function toMove(from: FoundStep, to: FoundStep): StepChange {
  return { path: "", kind: "moved", ...shown({ from: from.pointer, to: to.pointer }) };
}

function listChanges(
  from: JsonObject,
  to: JsonObject,
  changes: StepChange[],
): Omit<ModifiedStep, "id"> {
  const nested = new Set([...blocksOf(from), ...blocksOf(to)].map(({ steps }) => steps));
  collectChanges(from, to, "", { nested, changes });
  return { changes: changes.slice(0, CHANGES_MAX), truncated: changes.length > CHANGES_MAX };
}

interface Collection {
  /** Lists of steps, whose items compare by their ids. */
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
    // One entry beyond the limit shows that there are more.
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
  return isJsonObject(step) ? step["id"] : step;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
