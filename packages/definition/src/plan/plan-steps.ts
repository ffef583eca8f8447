import { findProviderAction } from "@workflow/catalog";
import type { Violation } from "@workflow/errors";
import { isJsonObject, ownProperty, setOwnProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { findAction } from "../actions/registry.ts";
import { compileCondition, evaluateCondition } from "../condition.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { Problems } from "../problems.ts";
import { findStepType } from "../step-types/registry.ts";
import type { StepType, TypedPart } from "../step-types/step-type.ts";
import type { NestedBlock } from "../step.ts";
import { listReferences } from "../template-scan.ts";
import { findText, readPlacedOrPlaceholder } from "../text-template.ts";
import { isKnown } from "./partial-values.ts";
import type { PartialResolver } from "./partial-values.ts";

/** A step as a run would execute it. */
export interface PlannedStep {
  id: string;
  /** The ids from the top down, with the ids of branches between them, joined by dots. */
  path: string;
  type: string;
  action: string | undefined;
  /**
   * The config with the templates resolved whose values are known before the run. Other templates, such as
   * secrets, stay as written. Nested steps are left out.
   */
  resolvedConfig: JsonObject;
}

/** A connection that a definition names. */
export interface NamedConnection {
  connectionId: string;
  /** The provider of the step's action; undefined where the connection decides. */
  provider: string | undefined;
}

export interface PlannedSteps {
  steps: PlannedStep[];
  secretKeys: string[];
  /** The connections that steps name, each once. */
  namedConnections: NamedConnection[];
  /** The providers of steps that name no connection, each once. */
  unnamedProviders: string[];
  /** The agents that steps ask, in document order, each once. */
  agentIds: string[];
  /** The problems that are certain; paths begin below `steps`. */
  problems: Violation[];
}

/**
 * Plans the steps of any definition, invalid ones included. Yields after each step, so that the caller may
 * pause there.
 *
 * @param couldStart whether definition and input are valid, so that a closer check is useful
 */
export function* planSteps(
  steps: unknown,
  resolver: PartialResolver,
  couldStart: boolean,
): Generator<undefined, PlannedSteps> {
  const walk: Walk = {
    resolver,
    steps: [],
    secretKeys: new Set(),
    namedConnections: new Map(),
    unnamedProviders: new Set(),
    agentIds: new Set(),
    problems: new Problems(),
    stepCount: 0,
    mayHaveEnded: false,
  };
  yield* planBlock(steps, { path: [], ids: [], isSure: couldStart, depth: 0 }, walk);
  return {
    steps: walk.steps,
    secretKeys: [...walk.secretKeys],
    namedConnections: [...walk.namedConnections.values()],
    unnamedProviders: [...walk.unnamedProviders],
    agentIds: [...walk.agentIds],
    problems: walk.problems.violations,
  };
}

interface Walk {
  readonly resolver: PartialResolver;
  readonly steps: PlannedStep[];
  readonly secretKeys: Set<string>;
  /** Connections by id and provider. */
  readonly namedConnections: Map<string, NamedConnection>;
  readonly unnamedProviders: Set<string>;
  readonly agentIds: Set<string>;
  readonly problems: Problems;
  stepCount: number;
  /** A step before this one may have ended the run. */
  mayHaveEnded: boolean;
}

/** The place of a list of steps. */
interface Place {
  /** The path in the definition, below `steps`. */
  path: readonly string[];
  /** The ids of the enclosing steps and branches. */
  ids: readonly string[];
  /** Whether every run with this input reaches the list, unless it fails before. */
  isSure: boolean;
  depth: number;
}

function* planBlock(steps: unknown, place: Place, walk: Walk): Generator<undefined, void> {
  if (!Array.isArray(steps) || place.depth > DEFINITION_LIMITS.blockDepthMax) return;
  for (const [index, step] of steps.entries()) {
    walk.stepCount += 1;
    if (walk.stepCount > DEFINITION_LIMITS.stepsMax) return;
    if (isJsonObject(step)) yield* planStep(step, [...place.path, String(index)], place, walk);
    yield undefined;
  }
}

function* planStep(
  step: JsonObject,
  path: readonly string[],
  place: Place,
  walk: Walk,
): Generator<undefined, void> {
  const id = ownProperty(step, "id");
  const type = ownProperty(step, "type");
  const config = ownProperty(step, "config");
  const stepType = typeof type === "string" ? findStepType(type) : undefined;
  if (typeof id !== "string" || stepType === undefined || !isJsonObject(config)) return;
  const action = ownProperty(step, "action");
  const typed = { action: typeof action === "string" ? action : undefined, config };
  const when = ownProperty(step, "when");
  noteSecrets([when, ...stepType.templateFields(typed).map(({ value }) => value)], walk);

  const decision = when === undefined ? true : decide(when, walk.resolver);
  const fails = ownProperty(step, "onError") !== "continue";
  const isSure = place.isSure && !walk.mayHaveEnded && decision === true && fails;
  const { resolved, isTooLarge } = resolveConfig(stepType, typed, walk.resolver);
  if (stepType.takesConnection) noteConnection(typed, resolved, walk);
  if (stepType.type === "agent") noteAgent(resolved, walk);
  const configPath = [...path, "config"];
  if (isSure && isTooLarge) walk.problems.add(configPath, TOO_LARGE);
  if (isSure && !isTooLarge) checkResolved({ stepType, typed, resolved }, path, walk.problems);

  const ids = [...place.ids, id];
  const blocks = stepType.blocks(config);
  walk.steps.push({
    id,
    path: ids.join("."),
    type: stepType.type,
    action: typed.action,
    resolvedConfig: withoutBlocks(resolved, blocks),
  });
  const sureBlocks = isSure ? findSureBlocks(stepType.type, resolved, blocks, walk) : new Set();
  for (const block of blocks) {
    const inside: Place = {
      path: [...configPath, ...block.path],
      ids: block.label === null ? ids : [...ids, block.label],
      isSure: sureBlocks.has(block),
      depth: place.depth + 1,
    };
    yield* planBlock(block.steps, inside, walk);
  }
  if (typed.action === "workflow.respond" && decision !== false) walk.mayHaveEnded = true;
}

const TOO_LARGE = "The value of the templates is larger than 1 MiB.";

function noteSecrets(values: readonly unknown[], { secretKeys }: Walk): void {
  for (const { root, segments } of listReferences(values)) {
    if (root === "secrets" && segments[0] !== undefined) secretKeys.add(segments[0]);
  }
}

/**
 * Adds the connection that a step uses: the named one, or the provider of which the step needs a connection.
 * Values that only the run knows are left out.
 */
function noteConnection(
  { action }: TypedPart,
  resolved: JsonObject,
  { namedConnections, unnamedProviders }: Walk,
): void {
  const auth = ownProperty(resolved, "auth");
  const signs = isJsonObject(auth) && ownProperty(auth, "type") === "connection" ? auth : {};
  const ids = [ownProperty(signs, "connectionId"), ownProperty(resolved, "connectionId")];
  // Null names no connection, as at execution.
  const connectionId = ids.find((id) => id !== undefined && id !== null);
  const asked = findProviderAction(action ?? "")?.provider.id ?? ownProperty(signs, "provider");
  const provider = isWritten(asked) ? asked : undefined;
  if (connectionId === undefined) {
    if (provider !== undefined) unnamedProviders.add(provider);
  } else if (isWritten(connectionId)) {
    namedConnections.set(`${connectionId} ${provider}`, { connectionId, provider });
  }
}

/** Adds the agent that a step asks, unless only the run knows its id. */
function noteAgent(resolved: JsonObject, { agentIds }: Walk): void {
  const agentId = ownProperty(resolved, "agentId");
  if (isWritten(agentId)) agentIds.add(agentId);
}

/** The text, where it is known before the run. */
function isWritten(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("{{");
}

/** Whether a condition holds; undefined where only the run knows. */
function decide(condition: unknown, { scope, meter }: PartialResolver): boolean | undefined {
  if (!listReferences(condition).every(isKnown)) return undefined;
  try {
    return evaluateCondition(compileCondition(condition), scope, meter);
  } catch {
    // Validation has reported the condition, or its patterns are too expensive to try now.
    return undefined;
  }
}

function resolveConfig(
  stepType: StepType,
  typed: TypedPart,
  resolver: PartialResolver,
): { resolved: JsonObject; isTooLarge: boolean } {
  const action = findAction(typed.action ?? "");
  const text = findText(typed.config, action?.textTemplate);
  let resolved: JsonObject = typed.config;
  let isTooLarge = false;
  for (const { path, value } of stepType.templateFields(typed)) {
    const isText = text !== undefined && path[0] === action?.textTemplate?.template;
    const part = isText ? resolver.resolve(text, readPlacedOrPlaceholder) : resolver.resolve(value);
    resolved = replaceAt(resolved, path, part.value);
    isTooLarge ||= part.isTooLarge;
  }
  return { resolved, isTooLarge };
}

/**
 * Adds the violations of a config whose templates have values. A template without a value gives null, which
 * counts as absent where the part is optional.
 */
function checkResolved(
  { stepType, typed, resolved }: { stepType: StepType; typed: TypedPart; resolved: JsonObject },
  path: readonly string[],
  problems: Problems,
): void {
  const { action, config } = typed;
  const check = (checked: JsonObject): readonly Violation[] => {
    const found = new Problems();
    stepType.check({ action, config: checked, isResolved: true }, path, found);
    return found.violations;
  };
  const found = check(resolved);
  if (found.length === 0) return;
  const isMissing = ([key, value]: [string, unknown]): boolean =>
    value === null &&
    ownProperty(config, key) !== null &&
    found.some((violation) => violation.path.at(-1) === key);
  const given = Object.entries(resolved).filter((member) => !isMissing(member));
  const remaining = check(Object.fromEntries(given));
  if (remaining.length === 0) return;
  const places = new Set(remaining.map((violation) => violation.path.join("\0")));
  const certain = found.filter((violation) => places.has(violation.path.join("\0")));
  problems.addAll([], certain.length > 0 ? certain : found);
}

/** The blocks whose steps are sure to run with the step, and whose failure fails the step. */
function findSureBlocks(
  type: string,
  resolved: JsonObject,
  blocks: readonly NestedBlock[],
  { resolver }: Walk,
): ReadonlySet<NestedBlock> {
  if (type === "condition") return findTakenBranch(resolved, blocks, resolver);
  if (type === "parallel") {
    const strategy = resolved["strategy"] ?? "wait-all";
    const isSure = strategy === "wait-all" || strategy === "fail-fast";
    return new Set(
      blocks.filter((block) => isSure && (!block.repeats || hasItems(resolved["forEach"]))),
    );
  }
  const { items, count } = resolved;
  const goesRound = hasItems(items) || (typeof count === "number" && count > 0);
  return new Set(type === "loop" && goesRound ? blocks : []);
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** The branch that is taken; none where only the run knows. */
function findTakenBranch(
  resolved: JsonObject,
  blocks: readonly NestedBlock[],
  resolver: PartialResolver,
): ReadonlySet<NestedBlock> {
  for (const block of blocks) {
    const condition = conditionOf(resolved, block);
    const decision = condition === undefined ? true : decide(condition, resolver);
    if (decision === true) return new Set([block]);
    if (decision === undefined) break;
  }
  return new Set();
}

/** The condition of a branch; undefined for `else`. */
function conditionOf(config: JsonObject, { path }: NestedBlock): unknown {
  const [first, index] = path;
  if (first === "then") return config["if"];
  const branches: readonly unknown[] = Array.isArray(config["branches"]) ? config["branches"] : [];
  const branch = first === "branches" ? branches[Number(index)] : undefined;
  return isJsonObject(branch) ? branch["when"] : undefined;
}

function withoutBlocks(config: JsonObject, blocks: readonly NestedBlock[]): JsonObject {
  return blocks.reduce((rest, { path }) => replaceAt(rest, path, undefined), config);
}

/**
 * A copy with another value at a path. At the empty path an object is merged. Undefined removes the value.
 */
function replaceAt(config: JsonObject, path: readonly string[], value: unknown): JsonObject {
  if (path.length === 0) return isJsonObject(value) ? { ...config, ...value } : config;
  const replaced = replaceIn(config, path, value);
  return isJsonObject(replaced) ? replaced : config;
}

function replaceIn(target: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(target)) {
    return target.map((item: unknown, index) =>
      String(index) === key ? replaceIn(item, rest, value) : item,
    );
  }
  if (!isJsonObject(target)) return target;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(target)) {
    const replaced = name === key ? replaceIn(member, rest, value) : member;
    if (replaced !== undefined) setOwnProperty(copy, name, replaced);
  }
  return copy;
}
