import { evaluate } from "@workflow/definition";
import type { CompiledActionStep, EvaluatedValue, TemplateScope } from "@workflow/definition";
import { findProviderAction, mayBeRepeated } from "@workflow/catalog";
import { StepError } from "../../domain/step-error.ts";
import { UnknownOutcomeError } from "../../domain/unknown-outcome-error.ts";
import { DeadlineExceeded } from "../control-flow-signals.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { SendGuard } from "../../secrets/bound-secrets.ts";
import type { NamedConnections } from "../effects/provider-client.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { sendInputs } from "../send-inputs.ts";
import { completionInTurns } from "../step-output.ts";

/** The inputs of an action with their templates resolved. */
export interface ResolvedInputs {
  inputs: EvaluatedValue;
  /** Guards the bound secrets in the inputs; null where nothing has to be guarded. */
  guard: SendGuard | null;
}

/** An attempt of an action that sends its inputs. */
export interface InputsCall {
  open: OpenStep;
  attempt: Attempt;
  resolve: () => ResolvedInputs;
}

/** Calls a provider's action with the step's connection (D17, ADR 37). */
export async function executeProviderAction(
  execution: Execution,
  step: CompiledActionStep,
  { open, attempt, resolve }: InputsCall,
): Promise<StepOutcome> {
  const { effects, facts, journal, signal } = execution;
  const { key, takeRoom } = attempt;
  const send = async (resolved: ResolvedInputs, hasTurn: boolean) => {
    const named = connectionsOf(execution, step.connectionId);
    const inputs = storableJson(resolved.inputs.value);
    const hostLimits = (await resolved.guard?.hostLimits([inputs])) ?? [];
    journal.markStarted();
    return effects.providers
      .execute(facts, { action: step.action, inputs, named, key, hasTurn, hostLimits }, signal)
      .catch((error: unknown) => {
        throw isInTime(open, signal) || isRepeatable(step) ? error : unknownOutcome(step, signal);
      });
  };
  const output = await sendInputs(execution, open, attempt, { resolve, send });
  await takeRoom(output.length);
  return completionInTurns(execution, JSON.parse(output), true);
}

/** Whether the step's own timeout is not over, even if another is. */
function isInTime({ deadlineAt }: OpenStep, { reason }: AbortSignal): boolean {
  return deadlineAt === null || !(reason instanceof DeadlineExceeded);
}

function isRepeatable({ action }: CompiledActionStep): boolean {
  const known = findProviderAction(action);
  return known !== undefined && mayBeRepeated(known.provider, known.action);
}

/** The request may have reached the provider before the timeout. */
function unknownOutcome({ action }: CompiledActionStep, { reason }: AbortSignal): StepError {
  const { message } = reason instanceof Error ? reason : { message: "The time is over." };
  const { provider } = findProviderAction(action) ?? {};
  return new UnknownOutcomeError("TIMEOUT", message, { provider: provider?.id });
}

/**
 * The connections that a step and its run name. If a template names one it must exist: a substitute could
 * belong to another customer of the company.
 */
export function connectionsOf(
  { facts, scope }: { facts: Execution["facts"]; scope: TemplateScope },
  connectionId: CompiledActionStep["connectionId"],
): NamedConnections {
  const run = facts.connectionId;
  if (connectionId === undefined) return { step: null, run };
  const { value } = evaluate(connectionId, scope);
  if (typeof value === "string" && value !== "") return { step: value, run };
  throw new StepError("INVALID_INPUT", "connectionId must be the id of a connection.", {
    retryable: false,
    details: { problems: [{ path: ["connectionId"], message: "must be the id of a connection" }] },
  });
}
