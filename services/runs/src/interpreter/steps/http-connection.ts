import { findProvider } from "@workflow/catalog";
import type { CompiledActionStep } from "@workflow/definition";
import type { SafeResponse } from "@workflow/http-client";
import { Excerpt, StepError } from "../../domain/step-error.ts";
import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";
import type { NamedConnections, RequestAuthorization } from "../effects/provider-client.ts";
import type { Execution } from "../execution.ts";
import type { DoneCall, PausedCall } from "../effects/paused-call.ts";
import { requestHttp } from "./http-request.ts";
import type { HttpAttempt, HttpInputs, HttpOutput } from "./http-request.ts";
import { connectionsOf } from "./provider-action.ts";

/**
 * Makes a request with the credentials of a connection. The credentials go to the provider's hosts only,
 * on every hop. They are removed from the answer.
 *
 * @param attempt with whether the turn that the connection's pause gave has come
 * @throws StepError
 */
export async function requestWithConnection(
  execution: Execution,
  step: CompiledActionStep,
  inputs: HttpInputs,
  { hasTurn, ...attempt }: HttpAttempt & { hasTurn: boolean },
): Promise<DoneCall<HttpOutput> | PausedCall> {
  const { effects, facts, signal } = execution;
  const named = namedIn(execution, step, inputs);
  const provider = inputs.auth?.type === "connection" ? inputs.auth.provider : undefined;
  const request = { provider: provider ?? undefined, named, hasTurn };
  const answer = await effects.providers.authorize(facts, request, signal);
  if (answer.kind === "paused") return answer;
  return sendSigned(execution, inputs, attempt, answer.authorization);
}

/** A connection that the request's inputs name takes precedence over that of the step. */
function namedIn(
  execution: Execution,
  step: CompiledActionStep,
  { auth }: HttpInputs,
): NamedConnections {
  const named = auth?.type === "connection" ? auth.connectionId : undefined;
  if (typeof named !== "string") return connectionsOf(execution, step.connectionId);
  return { step: named, run: execution.facts.connectionId };
}

async function sendSigned(
  execution: Execution,
  inputs: HttpInputs,
  attempt: HttpAttempt,
  authorization: RequestAuthorization,
): Promise<DoneCall<HttpOutput> | PausedCall> {
  const { effects, facts, signal } = execution;
  const { operatorOrigin, secrets } = authorization;
  const isOperators =
    operatorOrigin !== undefined && URL.parse(inputs.url)?.origin === operatorOrigin;
  const http = isOperators ? effects.operatorHttp : effects.http;
  const scrubber = createScrubber(secrets);
  const sentAt = performance.now();
  let answer: SafeResponse | undefined;
  const connection = {
    authorization,
    assertHost: (url: URL) => assertHost(url, authorization),
    onAnswer: (response: SafeResponse) => {
      answer = response;
    },
  };
  try {
    const client = http.forTenant(facts.companyId, facts.traceparent);
    const output = await requestHttp(client, inputs, { ...attempt, connection }, signal);
    const report = reportOf(answer, authorization, sentAt);
    // The step takes the status for a success. Others wait nevertheless.
    if (report !== null) await reportOrNull(execution, report);
    return { kind: "done", output: await withoutCredentials(output, scrubber) };
  } catch (error) {
    const report = reportOf(answer, authorization, sentAt);
    const isRefusal = error instanceof StepError && error.code === "HTTP_STATUS";
    const paused = report === null || !isRefusal ? null : await reportOrNull(execution, report);
    if (paused !== null) return paused;
    throw error instanceof StepError && scrubber !== null ? cleaned(error, scrubber) : error;
  }
}

function assertHost(url: URL, { origins, provider, connectionId }: RequestAuthorization): void {
  if (origins.includes(url.origin)) return;
  throw new StepError(
    "CONNECTION_HOST_NOT_ALLOWED",
    `The connection's credentials go to ${origins.join(" and ")} only.`,
    { retryable: false, details: { provider, connectionId, host: url.host } },
  );
}

/** The report of an answer that may mean too many calls; null for any other answer. */
function reportOf(
  answer: SafeResponse | undefined,
  { connectionId, provider }: RequestAuthorization,
  sentAt: number,
) {
  if (answer === undefined) return null;
  const { status } = answer;
  const isSuspect =
    status === 429 || findProvider(provider)?.rateLimit?.statuses?.includes(status) === true;
  if (!isSuspect) return null;
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
  );
  return { connectionId, status, headers, ageMs: performance.now() - sentAt };
}

/** A report that does not arrive changes nothing about the request's result. */
async function reportOrNull(
  { effects, facts, signal }: Execution,
  report: NonNullable<ReturnType<typeof reportOf>>,
): Promise<PausedCall | null> {
  try {
    return await effects.providers.report(facts, report, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

async function withoutCredentials(
  output: HttpOutput,
  scrubber: Scrubber | null,
): Promise<HttpOutput> {
  if (scrubber === null) return output;
  const { status, headers, body, ...rest } = output;
  const names = Object.keys(headers);
  // The headers and body are scrubbed as one value, so that the work is bounded for all of it.
  const clean = await scrubber.jsonInTurns([...Object.values(headers), body]);
  const values: readonly unknown[] = Array.isArray(clean) ? clean : [];
  const cleanHeaders = names.map((name, index): [string, string | string[]] => {
    const value = values[index];
    return [name, Array.isArray(value) ? value.map(String) : String(value)];
  });
  return {
    status,
    headers: Object.fromEntries(cleanHeaders),
    body: values[names.length],
    ...rest,
  };
}

/** The same failure with credentials removed, before anything of it is cut. */
function cleaned(error: StepError, scrubber: Scrubber): StepError {
  const { code, details, messageCharsMax, retryable, answered, retryAfterMs } = error;
  const clean = Object.entries(details ?? {}).map(([name, value]) => [
    name,
    value instanceof Excerpt
      ? new Excerpt(scrubber.json(value.whole), value.charsMax)
      : scrubber.json(value),
  ]);
  return new StepError({ told: code }, scrubber.text(error.message), {
    ...(details === undefined ? {} : { details: Object.fromEntries(clean) }),
    messageCharsMax,
    retryable,
    answered,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
