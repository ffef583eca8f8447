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

/** What a plan is made for. */
export interface PlanOptions {
  /** What `validateDefinition` found wrong; empty when the definition is valid. */
  violations: readonly Violation[];
  /** The run's input, a JSON object. */
  input: unknown;
  workflowId: string;
  version: number;
  /** The moment after which a schedule's firings are told. */
  now: Date;
}

/** What a run would do (D24). */
export interface DefinitionPlan {
  /** Whether there are no problems. */
  valid: boolean;
  /** At most 50. Paths lead into the definition, or into the input behind `input`. */
  problems: Violation[];
  /** In document order, nested ones after the step that holds them. */
  steps: PlannedStep[];
  /** Keys of all secrets that the definition names, in document order, each once. */
  secretKeys: string[];
  /** Providers that events of the trigger come from, sorted. */
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
 * Says what a run with this input would do, without doing it: what is wrong with the definition, the
 * input and, as far as the input alone decides, with the steps that are sure to run. Takes any JSON
 * without throwing.
 */
export function planDefinition(definition: DefinitionInput, options: PlanOptions): DefinitionPlan {
  const plan = makePlan(definition, options);
  for (;;) {
    const { done, value } = plan.next();
    if (done === true) return value;
  }
}

/**
 * The same, for a process that serves others meanwhile.
 *
 * @param yieldIfDue called after each step; what it returns is waited for
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
  // With a bad definition or input there is no run whose steps could fail.
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

/** Events of a provider come by a connection with it; a webhook without one belongs to nobody. */
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
