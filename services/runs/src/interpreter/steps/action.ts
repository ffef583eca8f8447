import { findProviderAction } from "@workflow/catalog";
import { evaluate } from "@workflow/definition";
import type { CompiledActionStep, CompiledValue, EvaluatedValue } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { SendGuard } from "../../secrets/bound-secrets.ts";
import { findPureAction } from "../actions/registry.ts";
import { carriesSecret } from "../carries-secret.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { completionInTurns, completionOf } from "../step-output.ts";
import { withoutWords } from "../without-words.ts";
import { requestWithConnection } from "./http-connection.ts";
import { parseHttpInputs, requestHttp } from "./http-request.ts";
import type { HttpAttempt, HttpOutput } from "./http-request.ts";
import { executeProviderAction } from "./provider-action.ts";
import { runTableAction } from "./table-action.ts";

/** Executes an action (D17). */
export async function executeAction(
  execution: Execution,
  step: CompiledActionStep,
  open: OpenStep,
  { key, showInput, takeRoom }: Attempt,
): Promise<StepOutcome> {
  const isProviders = findProviderAction(step.action) !== undefined;
  const { inputs, guard } = resolveInputs(execution, step, isProviders);
  showInput(storableJson(inputs.masked));
  if (isProviders) {
    return executeProviderAction(execution, step, open, inputs, { guard, key, takeRoom });
  }
  const pure = findPureAction(step.action);
  if (pure !== undefined) return completionOf(execution, pure(inputs.value), false);
  switch (step.action) {
    case "workflow.respond":
      return respond(execution, inputs.value);
    case "http.request": {
      execution.journal.markStarted();
      const attempt = { guard, key, takeRoom };
      const output = await sendRequest(execution, step, open, inputs.value, attempt).catch(
        (error: unknown) => {
          throw namesSecretHost(execution, inputs) ? withoutWords(error) : error;
        },
      );
      return completionInTurns(execution, output, true);
    }
    case "table.query":
    case "table.insert":
    case "table.update":
    case "table.delete": {
      const reads = step.action === "table.query";
      if (!reads) execution.journal.markStarted();
      const output = await runTableAction(execution, step.action, inputs.value, key).catch(
        (error: unknown) => {
          // Problems quote what a filter or a row says.
          throw carriesSecret(execution, inputs) ? withoutWords(error) : error;
        },
      );
      return completionInTurns(execution, output, !reads);
    }
    default: {
      const message = `The action ${step.action} is not available in this installation.`;
      throw new StepError("NOT_CONFIGURED", message, { retryable: false });
    }
  }
}

/** Makes a request, with a connection's credentials where the step asks for them. */
async function sendRequest(
  execution: Execution,
  step: CompiledActionStep,
  open: OpenStep,
  config: unknown,
  attempt: HttpAttempt,
): Promise<HttpOutput> {
  const inputs = parseHttpInputs(config);
  const { effects, facts, signal } = execution;
  if (inputs.auth?.type !== "connection") {
    return requestHttp(effects.http.forTenant(facts.companyId), inputs, attempt, signal);
  }
  return requestWithConnection(execution, step, open, inputs, attempt);
}

/**
 * The inputs with their templates resolved. Three kinds of actions may read bound secrets (D66): a request
 * is watched by a guard, a provider's action goes only where all of them may go, and a keyed digest does
 * not give its key away.
 */
function resolveInputs(
  { scope, bonds }: Execution,
  step: CompiledActionStep,
  isProviders: boolean,
): { inputs: EvaluatedValue; guard: SendGuard | null } {
  const mayRead = isProviders || step.action === "http.request" || step.action === "crypto.hmac";
  const grant = mayRead ? bonds.grant() : null;
  if (grant === null) return { inputs: evaluate(step.inputs, scope), guard: null };
  // All but the key is text that is digested, or says how.
  if (step.action === "crypto.hmac") evaluate(withoutMember(step.inputs, "key"), scope);
  const inputs = evaluate(step.inputs, { ...scope, secrets: grant.secrets });
  return { inputs, guard: grant.guard };
}

function withoutMember(inputs: CompiledValue, name: string): CompiledValue {
  if (inputs.kind !== "object") return inputs;
  return { ...inputs, entries: inputs.entries.filter(([key]) => key !== name) };
}

/**
 * Whether the address of a request comes from a secret. What is said of it then, a host in lower case
 * for example, is a form of the secret that nobody can look for.
 */
function namesSecretHost(execution: Execution, { value, masked }: EvaluatedValue): boolean {
  const url = { value: memberOf(value, "url"), masked: memberOf(masked, "url") };
  return carriesSecret(execution, url);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Ends the run with this output, from whatever depth. */
function respond(execution: Execution, inputs: unknown): StepOutcome {
  const given = typeof inputs === "object" && inputs !== null && "output" in inputs;
  const { output } = completionOf(execution, given ? inputs.output : null, false);
  return { kind: "responded", output };
}
