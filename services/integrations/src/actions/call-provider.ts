import { callAction, checkInputs } from "@workflow/catalog";
import type {
  ActionManifest,
  ConnectionAccess,
  ProviderFailure,
  ProviderManifest,
} from "@workflow/catalog";
import type { OpenConnection } from "../connections/open-connection.ts";
import type { FileLoader } from "../files/file-loader.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import { ANSWER_BYTES_MAX } from "../provider-http/provider-http.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { invalidInput, StepFailureError } from "./action-failure.ts";
import { failedCall, toFailure, withoutCredentials } from "./call-failure.ts";
import { chooseConnection, notFound } from "./choose-connection.ts";
import type { ChoosingContext, NamedConnections } from "./choose-connection.ts";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";
import type { CredentialScrubber } from "../provider-http/credential-scrubber.ts";
import { assertHostAllowed } from "./host-limits.ts";
import type { Pauses } from "./pauses.ts";
import type { RefusedCredentials, Renewal } from "./renew-refused.ts";
import { withInputFiles } from "./with-input-files.ts";

/** The dependencies of calls. */
export interface CallContext extends ChoosingContext {
  providerHttp: ProviderHttp;
  pauses: Pauses;
  refused: RefusedCredentials;
  files: FileLoader;
}

/** A step's call of an action. */
export interface StepCall {
  companyId: string;
  /** W3C trace context of the calling request. */
  traceparent?: string | undefined;
  provider: ProviderManifest;
  action: ActionManifest;
  inputs: Readonly<Record<string, unknown>>;
  named: NamedConnections;
  idempotencyKey: string;
  hasTurn: boolean;
  /**
   * Lists of hosts. A request goes only to hosts in every list, because secrets in the request are
   * bound to them (D66).
   */
  hostLimits: readonly (readonly string[])[];
  /** Whether the call may be repeated, whatever the manifest says; false by default. */
  isRepeatable?: boolean;
  signal: AbortSignal;
}

/** The outcome of a call that did not fail. */
export type CallOutcome =
  /** The output as JSON text, within the size limit of a step's output. */
  { kind: "done"; outputJson: string } | { kind: "paused"; waitMs: number; message?: string };

/** The result of all exchanges of an action, and the age of the last one. */
type ExchangesResult = { ageMs: number } & (
  { ok: true; outputJson: string } | { ok: false; failure: ProviderFailure }
);

/** The time limit of one exchange. A report may take long to make. */
const EXCHANGE_TIMEOUT_MS = 60_000;
/** The most bytes of all pages of a list. The output of a step has 4 MiB at most (D4). */
const PAGES_BYTES_MAX = 8 * 1024 * 1024;
/** The largest output of a step (D4). A worker would refuse a larger one, but only with all of it in memory. */
const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Calls a provider's action for a step. Its result and errors hold no credential.
 *
 * @throws StepFailureError
 */
export async function callProvider(context: CallContext, call: StepCall): Promise<CallOutcome> {
  const { provider, action, companyId } = call;
  const problems = checkInputs(action, call.inputs);
  if (problems.length > 0) throw invalidInput(problems);
  const { connection } = await chooseConnection(context, companyId, provider.id, call.named);
  const waitMs = await context.pauses.waitFor(connection, call.hasTurn);
  if (waitMs !== null) return { kind: "paused", waitMs };
  return withInputFiles(context.files, call, (inputs) =>
    callWith(context, { ...call, inputs }, connection, true),
  );
}

async function callWith(
  context: CallContext,
  call: StepCall,
  connection: OpenConnection,
  mayRenew: boolean,
): Promise<CallOutcome> {
  const { provider } = call;
  const access = accessOf(context, call, connection);
  const scrubber = scrubberOf(provider, access);
  const result = await exchangeAll(context, call, connection, { access, scrubber });
  if (result.ok) return { kind: "done", outputJson: result.outputJson };
  const { ageMs } = result;
  const failure = await withoutCredentials(result.failure, scrubber);
  const { message } = failure;
  if (failure.limited) {
    const report = { ...connection, retryAfterMs: failure.retryAfterMs, ageMs };
    const waitMs = await context.pauses.pause(report);
    if (waitMs === null) throw notFound(connection.connectionId);
    return { kind: "paused", waitMs, message };
  }
  if (!failure.badCredentials) {
    throw failedCall("PROVIDER_ERROR", call, connection, failure);
  }
  const renewal: Renewal =
    mayRenew && !failure.expired
      ? await context.refused.renew(provider, connection)
      : { kind: "final" };
  if (renewal.kind === "renewed") return callWith(context, call, renewal.connection, false);
  if (renewal.kind === "final") await context.refused.mark(provider, connection, failure);
  // The token service may answer again later.
  const retryable = renewal.kind === "later";
  throw failedCall("CREDENTIALS_REFUSED", call, connection, { ...failure, retryable });
}

/** Adds our own credentials, which some providers want as well. */
function accessOf(
  { providerHttp }: CallContext,
  call: StepCall,
  connection: OpenConnection,
): ConnectionAccess {
  try {
    return providerHttp.withOwnCredentials(call.provider, connection);
  } catch (error) {
    throw toFailure(error, call, connection);
  }
}

/**
 * Makes all exchanges of an action. All pages share one room, because they stay in memory until the
 * output's text is made.
 */
async function exchangeAll(
  context: CallContext,
  call: StepCall,
  connection: OpenConnection,
  { access, scrubber }: { access: ConnectionAccess; scrubber: CredentialScrubber },
): Promise<ExchangesResult> {
  const { provider, companyId, hostLimits, signal } = call;
  const { providerHttp } = context;
  let bytesLeft = PAGES_BYTES_MAX;
  let sentAt = performance.now();
  const bytesMax = call.action.paging === undefined ? ANSWER_BYTES_MAX : PAGES_BYTES_MAX;
  const room = providerHttp.openRoom({ companyId, bytesMax, signal });
  try {
    const { inputs, idempotencyKey } = call;
    const baseUrl = providerHttp.baseUrlOf(provider.id);
    const result = await callAction(
      call,
      { inputs, access, baseUrl, idempotencyKey },
      async (request) => {
        // The host is known only here, with the connection's fields.
        assertHostAllowed(request.url, hostLimits, "the provider's");
        if (bytesLeft <= 0) throw tooManyPages();
        sentAt = performance.now();
        const answer = await providerHttp
          .sendProviderRequest(request, {
            companyId,
            traceparent: call.traceparent,
            provider: provider.id,
            timeoutMs: EXCHANGE_TIMEOUT_MS,
            bytesMax: bytesLeft,
            signal,
            room,
          })
          .catch((error: unknown) => {
            throw isTooLarge(error) && bytesLeft < ANSWER_BYTES_MAX ? tooManyPages() : error;
          });
        bytesLeft -= answer.bytes;
        return answer;
      },
    );
    const ageMs = performance.now() - sentAt;
    if (!result.ok) return { ...result, ageMs };
    return { ok: true, outputJson: await toOutputJson(result.output ?? null, scrubber), ageMs };
  } catch (error) {
    throw toFailure(error, call, connection);
  } finally {
    room.leave();
  }
}

/** @throws StepFailureError OUTPUT_TOO_LARGE, before the search for credentials */
async function toOutputJson(output: unknown, scrubber: CredentialScrubber): Promise<string> {
  const text = JSON.stringify(output);
  const { length } = text;
  if (length <= OUTPUT_CHARS_MAX) {
    const clean = await scrubber.json(output);
    return clean === output ? text : JSON.stringify(clean);
  }
  throw new StepFailureError({
    code: "OUTPUT_TOO_LARGE",
    message: `The step's output is larger than 4 MiB: it has ${length} characters of JSON.`,
    details: { chars: length, charsMax: OUTPUT_CHARS_MAX },
  });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ProviderCallError && error.code === "RESPONSE_TOO_LARGE";
}

function tooManyPages(): StepFailureError {
  return new StepFailureError({
    code: "RESPONSE_TOO_LARGE",
    message: `The pages of the list have more than ${PAGES_BYTES_MAX} bytes; a smaller limit helps.`,
    details: {},
  });
}
