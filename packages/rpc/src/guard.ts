import { randomUUID } from "node:crypto";
import { ServerInterceptingCall, status as Code } from "@grpc/grpc-js";
import type { Metadata, ServerInterceptingCallInterface, ServerInterceptor } from "@grpc/grpc-js";
import { AppError, toAppError } from "@workflow/errors";
import { readTraceparent } from "@workflow/tracing";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { CallStart } from "./context.ts";
import { CallContext } from "./context.ts";
import type { RequiredScopes } from "./definition.ts";
import { toErrorStatus } from "./error-status.ts";
import { HEALTH_CHECK } from "./health-check.ts";
import type { Identity } from "./identity.ts";
import { isRequestId } from "./request-id.ts";
import type { ReportRequest } from "./request-log.ts";
import { PolicyViolationError } from "./token-verifier.ts";
import type { TokenVerifier } from "./token-verifier.ts";

/** The interval at which an open stream's token is checked again. */
const RECHECK_MS = 1_000;

/** The facts of a method that the guard needs. */
export interface GuardedMethod {
  rpc: string;
  scopes: RequiredScopes;
  /** The time limit of calls without a deadline, which gRPC allows. */
  defaultDeadlineMs: number;
  /** Whether the method streams; a stream may outlive the token that opened it. */
  isStream: boolean;
}

export interface GuardOptions {
  /** The methods by path. A missing method (health, reflection) is open to everyone. */
  methods: ReadonlyMap<string, GuardedMethod>;
  verifier: TokenVerifier;
  logger: Logger;
  /** Makes the spans of calls whose trace is recorded. A service begins no trace itself. */
  tracer?: Tracer | undefined;
  report: ReportRequest;
  /** The running calls of open methods, which end when the server closes. */
  openCalls: Set<ServerInterceptingCallInterface>;
  /** Called for an admitted call; its handler finds the context under the call's metadata. */
  onAdmitted(metadata: Metadata, context: CallContext, call: ServerInterceptingCallInterface): void;
  /** Called when an admitted call is over: answered, cancelled, or past its deadline. */
  onOver(context: CallContext): void;
}

/**
 * Authenticates calls from their headers alone. A caller without a valid token or the scope is
 * refused before a byte of the message is buffered or parsed.
 */
export function createGuard(options: GuardOptions): ServerInterceptor {
  return (descriptor, call) => {
    const method = options.methods.get(descriptor.path);
    if (method !== undefined) return guardCall(options, method, call);
    return trackCall(options, descriptor.path === HEALTH_CHECK, call);
  };
}

/**
 * Admits every caller.
 *
 * @param judgesTokens whether a caller with an invalid token is refused. A process thus learns before its
 * first call that its tokens are invalid
 */
function trackCall(
  { openCalls: calls, verifier }: GuardOptions,
  judgesTokens: boolean,
  call: ServerInterceptingCallInterface,
): ServerInterceptingCall {
  calls.add(call);
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata(metadata, proceed) {
          if (!judgesTokens || firstText(metadata, "authorization") === undefined) {
            proceed(metadata);
            return;
          }
          judge(verifier, metadata).then(
            () => proceed(metadata),
            (error: unknown) => call.sendStatus(toErrorStatus(toAppError(error))),
          );
        },
        onCancel: () => calls.delete(call),
      }),
  });
}

async function judge(verifier: TokenVerifier, metadata: Metadata): Promise<void> {
  await verifier.verify(bearerToken(metadata));
}

function guardCall(
  options: GuardOptions,
  method: GuardedMethod,
  call: ServerInterceptingCallInterface,
): ServerInterceptingCall {
  let context: CallContext | undefined;
  let isOver = false;
  let deadlineTimer: NodeJS.Timeout | undefined;
  let recheckTimer: NodeJS.Timeout | undefined;

  async function check(metadata: Metadata, start: CallStart, proceed: Proceed): Promise<void> {
    const admission = await admit(options, method, metadata, start);
    if (isOver) {
      options.report(start, undefined, Code.CANCELLED);
    } else if ("error" in admission) {
      const status = toErrorStatus(admission.error);
      options.report(start, admission.companyId, status.code, admission.error);
      call.sendStatus(status);
    } else {
      context = admission.context;
      options.onAdmitted(metadata, context, call);
      if (method.isStream) recheckTimer = recheck(options.verifier, metadata, context, call);
      proceed(metadata);
    }
  }

  return new ServerInterceptingCall(call, {
    start(next) {
      next({
        onReceiveMetadata(metadata, proceed) {
          deadlineTimer = enforceDefaultDeadline(method, call);
          const start = beginCall(method, metadata, call);
          check(metadata, start, proceed).catch((error: unknown) => {
            options.logger.error({ err: error }, "a call could not be admitted");
          });
        },
        // This listener runs at the end of every call, however the call ended.
        onCancel() {
          isOver = true;
          clearTimeout(deadlineTimer);
          clearInterval(recheckTimer);
          if (context !== undefined) options.onOver(context);
        },
      });
    },
  });
}

type Proceed = (metadata: Metadata) => void;
type Admission = { context: CallContext } | { error: AppError; companyId: string | undefined };

async function admit(
  { verifier, logger, tracer }: GuardOptions,
  method: GuardedMethod,
  metadata: Metadata,
  start: CallStart,
): Promise<Admission> {
  let identity: Identity | undefined;
  try {
    identity = await verifier.verify(bearerToken(metadata));
    requireScope(identity, method.scopes);
    // The span begins here, since an unauthenticated caller makes no spans.
    start.span = tracer?.span(start.rpc, start.traceparent, {
      kind: "server",
      attributes: { "rpc.system": "grpc", "workflow.request.id": start.requestId },
      startedAt: start.startedAt,
    });
    return { context: new CallContext(start, identity, logger) };
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.cause instanceof PolicyViolationError) {
      const { rpc, requestId } = start;
      logger.warn({ rpc, requestId, internal: error.internal }, "a token claims too much");
    }
    return { error, companyId: identity?.companyId };
  }
}

/** Ends a stream soon after the token that opened it was revoked or has expired. */
function recheck(
  verifier: TokenVerifier,
  metadata: Metadata,
  context: CallContext,
  call: ServerInterceptingCallInterface,
): NodeJS.Timeout | undefined {
  const token = bearerToken(metadata);
  // Tokens of services expire within minutes; a service ends its own streams.
  if (!verifier.isRevocable(token)) return undefined;
  return setInterval(() => {
    verifier.verify(token).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      context.abort(error);
      call.sendStatus(toErrorStatus(error));
    });
  }, RECHECK_MS).unref();
}

function beginCall(
  method: GuardedMethod,
  metadata: Metadata,
  call: ServerInterceptingCallInterface,
): CallStart {
  const requestId = firstText(metadata, "x-request-id");
  const deadline = Number(call.getDeadline());
  return {
    rpc: method.rpc,
    requestId: requestId !== undefined && isRequestId(requestId) ? requestId : randomUUID(),
    traceparent: readTraceparent(firstText(metadata, "traceparent")),
    clues: { metadata, peer: call.getPeer() },
    startedAt: performance.now(),
    deadlineMs: Number.isFinite(deadline) ? deadline : Date.now() + method.defaultDeadlineMs,
  };
}

/** grpc-js itself ends a call at the deadline that the caller sent. */
function enforceDefaultDeadline(
  method: GuardedMethod,
  call: ServerInterceptingCallInterface,
): NodeJS.Timeout | undefined {
  if (Number.isFinite(Number(call.getDeadline()))) return undefined;
  const status = { code: Code.DEADLINE_EXCEEDED, details: "Deadline exceeded" };
  return setTimeout(() => call.sendStatus(status), method.defaultDeadlineMs).unref();
}

function bearerToken(metadata: Metadata): string {
  const header = firstText(metadata, "authorization");
  const token = header === undefined ? undefined : /^Bearer (\S+)$/i.exec(header)?.[1];
  if (token === undefined) {
    throw new AppError("UNAUTHORIZED", "An access token is required.");
  }
  return token;
}

function requireScope({ scopes }: Identity, required: RequiredScopes): void {
  const isAllowed =
    typeof required === "string"
      ? scopes.includes(required)
      : required.some((scope) => scopes.includes(scope));
  if (isAllowed) return;
  const wanted = typeof required === "string" ? required : required.join(" or ");
  throw new AppError("FORBIDDEN", `The scope ${wanted} is required.`);
}

function firstText(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0];
  return typeof value === "string" ? value : undefined;
}
