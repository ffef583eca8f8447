import { findProviderAction } from "@workflow/catalog";
import { evaluate } from "@workflow/definition";
import type { CompiledActionStep, CompiledValue, EvaluatedValue } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import { findPureAction } from "../actions/registry.ts";
import { carriesSecret } from "../carries-secret.ts";
import type { DoneCall, PausedCall } from "../effects/paused-call.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { sendInputs } from "../send-inputs.ts";
import { completionInTurns, completionOf } from "../step-output.ts";
import { withoutWords } from "../without-words.ts";
import { requestWithConnection } from "./http-connection.ts";
import { parseHttpInputs, requestHttp } from "./http-request.ts";
import type { HttpOutput } from "./http-request.ts";
import { executeProviderAction } from "./provider-action.ts";
import type { InputsCall, ResolvedInputs } from "./provider-action.ts";
import { runTableAction } from "./table-action.ts";
import type { TableAction } from "./table-action.ts";

/** Executes an action (D17). */
export async function executeAction(
  execution: Execution,
  step: CompiledActionStep,
  open: OpenStep,
  attempt: Attempt,
): Promise<StepOutcome> {
  const isProviders = findProviderAction(step.action) !== undefined;
  const resolve = (): ResolvedInputs => resolveInputs(execution, step, isProviders);
  const call: InputsCall = { open, attempt, resolve };
  if (isProviders) return executeProviderAction(execution, step, call);
  switch (step.action) {
    case "http.request": {
      const output = await sendRequest(execution, step, call);
      return completionInTurns(execution, output, true);
    }
    case "table.query":
    case "table.insert":
    case "table.update":
    case "table.delete": {
      const output = await callTable(execution, step.action, call);
      return completionInTurns(execution, output, step.action !== "table.query");
    }
    default: {
      const { inputs } = resolve();
      attempt.showInput(storableJson(inputs.masked));
      return executeInside(execution, step, inputs.value);
    }
  }
}

/** Executes an action that reaches nothing outside. */
function executeInside(
  execution: Execution,
  { action }: CompiledActionStep,
  inputs: unknown,
): StepOutcome {
  const pure = findPureAction(action);
  if (pure !== undefined) return completionOf(execution, pure(inputs), false);
  if (action === "workflow.respond") return respond(execution, inputs);
  const message = `The action ${action} is not available in this installation.`;
  throw new StepError("NOT_CONFIGURED", message, { retryable: false });
}

/** Makes a request, with a connection's credentials where the step asks for them. */
async function sendRequest(
  execution: Execution,
  step: CompiledActionStep,
  { open, attempt, resolve }: InputsCall,
): Promise<HttpOutput> {
  const { effects, facts, journal, signal } = execution;
  const { key, takeRoom } = attempt;
  const client = effects.http.forTenant(facts.companyId, facts.traceparent);
  try {
    const send = async (
      resolved: ResolvedInputs,
      hasTurn: boolean,
    ): Promise<DoneCall<HttpOutput> | PausedCall> => {
      journal.markStarted();
      const inputs = parseHttpInputs(resolved.inputs.value);
      const sent = { guard: resolved.guard, key, takeRoom };
      if (inputs.auth?.type === "connection") {
        return requestWithConnection(execution, step, inputs, { ...sent, hasTurn });
      }
      return { kind: "done", output: await requestHttp(client, inputs, sent, signal) };
    };
    return await sendInputs(execution, open, attempt, { resolve, send });
  } catch (error) {
    throw error instanceof StepError && namesSecretHost(execution, resolve().inputs)
      ? withoutWords(error)
      : error;
  }
}

async function callTable(
  execution: Execution,
  action: TableAction,
  { open, attempt, resolve }: InputsCall,
): Promise<unknown> {
  const send = async ({ inputs }: ResolvedInputs): Promise<DoneCall<unknown>> => {
    if (action !== "table.query") execution.journal.markStarted();
    const calling = runTableAction(execution, action, inputs.value, attempt.key);
    const output = await calling.catch((error: unknown) => {
      // The problems quote the filter or the row.
      throw carriesSecret(execution, inputs) ? withoutWords(error) : error;
    });
    return { kind: "done", output };
  };
  return sendInputs(execution, open, attempt, { resolve, send });
}

/**
 * The inputs with their templates resolved. Three kinds of actions may read bound secrets (D66). A guard
 * watches a request, a provider's action goes only to hosts that all of them allow, and a keyed digest
 * does not reveal its key.
 */
function resolveInputs(
  { scope, bonds }: Execution,
  step: CompiledActionStep,
  isProviders: boolean,
): ResolvedInputs {
  const mayRead = isProviders || step.action === "http.request" || step.action === "crypto.hmac";
  const grant = mayRead ? bonds.grant() : null;
  if (grant === null) return { inputs: evaluate(step.inputs, scope), guard: null };
  // All inputs but the key are text to digest, or options.
  if (step.action === "crypto.hmac") evaluate(withoutMember(step.inputs, "key"), scope);
  const inputs = evaluate(step.inputs, { ...scope, secrets: grant.secrets });
  return { inputs, guard: grant.guard };
}

function withoutMember(inputs: CompiledValue, name: string): CompiledValue {
  if (inputs.kind !== "object") return inputs;
  return { ...inputs, entries: inputs.entries.filter(([key]) => key !== name) };
}

/**
 * Whether the address of a request comes from a secret. An error may then show a form of it, such as the
 * host in lower case, that the scrubber cannot find.
 */
function namesSecretHost(execution: Execution, { value, masked }: EvaluatedValue): boolean {
  const url = { value: memberOf(value, "url"), masked: memberOf(masked, "url") };
  return carriesSecret(execution, url);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Ends the run with this output, at any depth. */
function respond(execution: Execution, inputs: unknown): StepOutcome {
  const given = typeof inputs === "object" && inputs !== null && "output" in inputs;
  const { output } = completionOf(execution, given ? inputs.output : null, false);
  return { kind: "responded", output };
}
