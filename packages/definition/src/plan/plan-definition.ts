import type { Violation } from "@workflow/errors";
import { isJsonObject, isTooDeep } from "@workflow/json";
import { compileJsonSchema } from "../json-schema.ts";
import { Problems } from "../problems.ts";
import { nextFirings } from "../schedule-times.ts";
import { triggerSchema } from "../trigger.ts";
import type { DefinitionInput } from "../validate-definition.ts";
import { PartialResolver } from "./partial-values.ts";
import { planSteps } from "./plan-steps.ts";
import type { NamedConnection, PlannedStep } from "./plan-steps.ts";

/** The definition and the input that a plan is made for. */
export interface PlanOptions {
  /** The violations that `validateDefinition` reported; empty when the definition is valid. */
  violations: readonly Violation[];
  /** The run's input, a JSON object. */
  input: unknown;
  workflowId: string;
  version: number;
  /** The instant after which the firings of a schedule are listed. */
  now: Date;
}

/** The plan of a run (D24). */
export interface DefinitionPlan {
  /** Whether there are no problems. */
  valid: boolean;
  /** At most 50. Paths lead into the definition, or into the input behind `input`. */
  problems: Violation[];
  /** In document order, nested ones after the step that holds them. */
  steps: PlannedStep[];
  /** Keys of all secrets that the definition names, in document order, each once. */
  secretKeys: string[];
  /** The providers that send the trigger's events, sorted. */
  triggerProviders: string[];
  /** The connections that steps name, each once. */
  namedConnections: NamedConnection[];
  /** The providers of steps that name no connection, sorted, each once. */
  unnamedProviders: string[];
  /** The agents that steps ask, in document order, each once. */
  agentIds: string[];
  /** The next five firings of a schedule trigger, whether it is enabled or not; empty otherwise. */
  nextRunAt: Date[];
}

const FIRINGS = 5;

/**
 * Plans a run with this input, without side effects. Problems are those of the definition, of the input and,
 * where the input alone decides, of the steps that are sure to run. Takes any JSON without throwing.
 */
export function planDefinition(definition: DefinitionInput, options: PlanOptions): DefinitionPlan {
  const plan = makePlan(definition, options);
  for (;;) {
    const { done, value } = plan.next();
    if (done === true) return value;
  }
}

/**
 * Plans like `planDefinition`, in a process that serves other requests meanwhile.
 *
 * @param yieldIfDue called and awaited after each step
 */
export async function planDefinitionInTurns(
  definition: DefinitionInput,
  options: PlanOptions,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<DefinitionPlan> {
  const plan = makePlan(definition, options);
  for (;;) {
    const { done, value } = plan.next();
    if (done === true) return value;
    const pause = yieldIfDue();
    if (pause !== undefined) await pause;
  }
}

function* makePlan(
  definition: DefinitionInput,
  options: PlanOptions,
): Generator<undefined, DefinitionPlan> {
  const { input, workflowId, version, now } = options;
  const problems = new Problems();
  problems.addAll([], options.violations);
  problems.addAll(["input"], inputViolations(definition.inputSchema, input));
  // An invalid definition or input allows no run, so no step can fail.
  const couldStart = problems.violations.length === 0;
  const run = { workflowId, version };
  const scope = { input, run, trigger: {}, steps: new Map(), secrets: new Map() };
  const steps = isTooDeep(definition.steps) ? [] : definition.steps;
  const walked = yield* planSteps(steps, new PartialResolver(scope), couldStart);
  problems.addAll(["steps"], walked.problems);
  const { violations } = problems;
  return {
    valid: violations.length === 0,
    problems: violations,
    steps: walked.steps,
    secretKeys: walked.secretKeys,
    triggerProviders: providersOf(definition.trigger),
    namedConnections: walked.namedConnections,
    unnamedProviders: walked.unnamedProviders.toSorted(),
    agentIds: walked.agentIds,
    nextRunAt: firingsOf(definition.trigger, now),
  };
}

function inputViolations(inputSchema: unknown, input: unknown): Violation[] {
  if (!isJsonObject(inputSchema)) return [];
  const schema = compileJsonSchema(inputSchema);
  return schema.ok ? schema.validate(input) : [];
}

/** Provider events need a connection with the provider. A webhook without a provider needs none. */
function providersOf(trigger: unknown): string[] {
  const parsed = triggerSchema.safeParse(trigger);
  if (!parsed.success || parsed.data.type !== "webhook") return [];
  const provider = parsed.data.provider?.toLowerCase();
  return provider === undefined || provider === "custom" ? [] : [provider];
}

function firingsOf(trigger: unknown, now: Date): Date[] {
  const parsed = triggerSchema.safeParse(trigger);
  if (!parsed.success || parsed.data.type !== "schedule") return [];
  return nextFirings(parsed.data, now, FIRINGS);
}
