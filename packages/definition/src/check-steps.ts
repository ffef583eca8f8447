import { oneOf } from "@workflow/catalog";
import { isJsonObject, ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { checkConditionInto } from "./condition.ts";
import { checkReferences } from "./check-references.ts";
import type { BlockPlace, StepPlace, StepReference } from "./check-references.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { Problems } from "./problems.ts";
import { findStepType, STEP_TYPES } from "./step-types/registry.ts";
import type { StepType } from "./step-types/step-type.ts";
import { stepSchema } from "./step.ts";
import type { TemplateField } from "./step.ts";
import { scanTemplates } from "./template-scan.ts";

/**
 * Adds everything that is wrong with a definition's steps, nested ones included; never throws. Yields after
 * every step, so that other work gets its turn.
 */
export function* checkSteps(steps: unknown, problems: Problems): Generator<void> {
  const walk: Walk = { problems, places: new Map(), references: [], stepCount: 0 };
  yield* checkBlock(steps, ["steps"], [], walk);
  // The walk stops at the limit, so some steps of a workflow with too many steps are unknown.
  if (walk.stepCount > DEFINITION_LIMITS.stepsMax) return;
  yield* checkReferences(walk.references, walk.places, problems);
}

interface Walk {
  readonly problems: Problems;
  /** Steps by id; the first one where two share an id. */
  readonly places: Map<string, StepPlace>;
  readonly references: StepReference[];
  stepCount: number;
}

function* checkBlock(
  steps: unknown,
  path: readonly string[],
  blocks: readonly BlockPlace[],
  walk: Walk,
): Generator<void> {
  const { problems } = walk;
  if (!Array.isArray(steps)) {
    problems.add(path, "must be an array of steps");
    return;
  }
  if (blocks.length > DEFINITION_LIMITS.blockDepthMax) {
    problems.add(path, `steps nest at most ${DEFINITION_LIMITS.blockDepthMax} deep`);
    return;
  }
  for (const [index, step] of steps.entries()) {
    walk.stepCount += 1;
    if (walk.stepCount > DEFINITION_LIMITS.stepsMax) {
      problems.add(["steps"], `a workflow has at most ${DEFINITION_LIMITS.stepsMax} steps in all`);
      return;
    }
    yield* checkStep(step, [...path, String(index)], blocks, walk);
    yield;
    if (problems.isFull) return;
  }
}

function* checkStep(
  step: unknown,
  path: readonly string[],
  blocks: readonly BlockPlace[],
  walk: Walk,
): Generator<void> {
  const { problems } = walk;
  problems.parse(stepSchema, step, path);
  if (!isJsonObject(step)) return;
  const id = ownProperty(step, "id");
  const place: StepPlace = { id: typeof id === "string" ? id : "", order: walk.stepCount, blocks };
  registerPlace(place, path, walk);
  checkWhen(step, place, path, walk);
  const type = ownProperty(step, "type");
  if (typeof type !== "string" || type === "") return;
  const stepType = findStepType(type);
  if (stepType !== undefined) {
    yield* checkTyped({ stepType, step }, place, path, walk);
    return;
  }
  const known = oneOf(STEP_TYPES.map((each) => JSON.stringify(each.type)));
  problems.add([...path, "type"], `is not a known step type; it must be ${known}`);
  // Templates mean the same in every type. The nested steps of an unknown type are unknown.
  const value = withoutSteps(ownProperty(step, "config"));
  collectReferences([{ path: [], value }], place, [...path, "config"], walk);
}

function registerPlace(place: StepPlace, path: readonly string[], walk: Walk): void {
  if (place.id === "") return;
  if (walk.places.has(place.id)) {
    walk.problems.add(
      [...path, "id"],
      `the id ${JSON.stringify(place.id)} is used by an earlier step; ids are unique in the whole workflow`,
    );
  } else {
    walk.places.set(place.id, place);
  }
}

function checkWhen(step: JsonObject, place: StepPlace, path: readonly string[], walk: Walk): void {
  const when = ownProperty(step, "when");
  if (when === undefined) return;
  checkConditionInto(walk.problems, when, [...path, "when"]);
  collectReferences([{ path: ["when"], value: when }], place, path, walk);
}

/** The part of the step that its type handles, and its nested steps. */
function* checkTyped(
  { stepType, step }: { stepType: StepType; step: JsonObject },
  place: StepPlace,
  path: readonly string[],
  walk: Walk,
): Generator<void> {
  const named = ownProperty(step, "action");
  const action = typeof named === "string" ? named : undefined;
  const config = ownProperty(step, "config");
  const configPath = [...path, "config"];
  if (!isJsonObject(config)) {
    checkBesideConfig(stepType, action, path, walk);
    collectReferences([{ path: [], value: config }], place, configPath, walk);
    return;
  }
  const typed = { action, config };
  stepType.check(typed, path, walk.problems);
  collectReferences(stepType.templateFields(typed), place, configPath, walk);
  for (const reference of stepType.references?.(typed, walk.problems.expressions) ?? []) {
    const referencePath = [...configPath, ...reference.path];
    walk.references.push({ place, reference, path: referencePath, seesOwnBlocks: false });
  }
  for (const block of stepType.blocks(config)) {
    const blockPath = [...configPath, ...block.path];
    if (!block.mayBeEmpty && Array.isArray(block.steps) && block.steps.length === 0) {
      walk.problems.addUnfinished(blockPath, "must have at least 1 step");
    }
    const { label, repeats } = block;
    const inside = [...place.blocks, { holderId: place.id, label, repeats }];
    yield* checkBlock(block.steps, blockPath, inside, walk);
  }
}

/**
 * The problems outside of the config, for a step whose config is missing. An unknown action is one of them.
 */
function checkBesideConfig(
  stepType: StepType,
  action: string | undefined,
  path: readonly string[],
  { problems }: Walk,
): void {
  const found = new Problems();
  stepType.check({ action, config: {} }, path, found);
  const beside = found.violations.filter((violation) => violation.path[path.length] !== "config");
  problems.addAll([], beside);
}

/** A copy of a value without the lists that look like steps. */
function withoutSteps(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isStepLike) ? [] : value.map(withoutSteps);
  if (!isJsonObject(value)) return value;
  // A key called __proto__ stays an ordinary key.
  return Object.fromEntries(Object.keys(value).map((key) => [key, withoutSteps(value[key])]));
}

function isStepLike(value: unknown): boolean {
  return isJsonObject(value) && ["id", "type", "config"].every((key) => Object.hasOwn(value, key));
}

function collectReferences(
  fields: readonly TemplateField[],
  place: StepPlace,
  basePath: readonly string[],
  walk: Walk,
): void {
  for (const field of fields) {
    const fieldPath = [...basePath, ...field.path];
    const scan = scanTemplates(field.value);
    walk.problems.addAll(fieldPath, scan.problems);
    for (const reference of scan.references) {
      const path = [...fieldPath, ...reference.path];
      walk.references.push({ place, reference, path, seesOwnBlocks: field.seesOwnBlocks ?? false });
    }
  }
}
