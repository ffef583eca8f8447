import { Metadata, status as Code } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { AppError, GRPC_CODE_BY_REASON, isReason } from "@workflow/errors";
import type { Reason, Violation } from "@workflow/errors";
import { packViolations, unpackViolations, withOmission } from "./packed-violations.ts";
import { decodeRichStatus, encodeRichStatus } from "./rich-status.ts";
import type { RichStatus } from "./rich-status.ts";

const DETAILS_KEY = "grpc-status-details-bin";
/** All violations; the standard details have room for the first ones only. */
const VIOLATIONS_KEY = "workflow-violations-bin";
const DOMAIN = "workflow";

/**
 * Trailers must fit into the peer's header limit (8 KiB in several gRPC implementations), or the whole answer
 * becomes a broken stream. The limits below add up to about 4.5 KiB, 6 KiB in base64. Packed violations use
 * the room that the details leave.
 */
const MESSAGE_BYTES_MAX = 1_000;
const DETAILS_BYTES_MAX = 1_500;
const VIOLATIONS_BYTES_MAX = 1_900;
const VIOLATIONS_MAX = 50;

const INTERNAL: PlainError = ["INTERNAL_ERROR", "An internal error occurred."];
const UNAVAILABLE: PlainError = ["UNAVAILABLE", "The service is not available at the moment."];
type PlainError = readonly [Reason, string];

/** The meaning of a status without our details; codes that are missing here are internal errors. */
const ERROR_BY_CODE: Readonly<Partial<Record<Code, PlainError>>> = {
  [Code.DEADLINE_EXCEEDED]: ["UNAVAILABLE", "The service did not answer in time."],
  [Code.UNAVAILABLE]: UNAVAILABLE,
  [Code.CANCELLED]: UNAVAILABLE,
  // During an upgrade a caller may be newer than the service.
  [Code.UNIMPLEMENTED]: ["UNAVAILABLE", "The service does not know this call yet."],
  [Code.UNAUTHENTICATED]: ["UNAUTHORIZED", "The access token is not valid."],
  [Code.PERMISSION_DENIED]: ["FORBIDDEN", "The operation is not permitted."],
  // Our servers send details with every status. A status without details comes from grpc-js, which refuses a
  // message over its size limit.
  [Code.RESOURCE_EXHAUSTED]: ["PAYLOAD_TOO_LARGE", "The message is too large."],
};

/** A status in the form of a handler's callback. */
export interface ErrorStatus {
  code: Code;
  details: string;
  metadata: Metadata;
}

/**
 * Tells grpc's own repetition to give up. An error that says when to come again is the service's decision, so the same
 * call must not go to the next replica at once (ADR 75).
 */
const NOT_REPEATED = ["grpc-retry-pushback-ms", "-1"] as const;

/** The form of an error on the wire: reason, public message, violations, details, retry time. */
export function toErrorStatus(error: AppError): ErrorStatus {
  const code = codeOf(error.reason);
  const message = truncate(error.message, MESSAGE_BYTES_MAX);
  const details = encodeDetails(error.details);
  const violations = error.violations
    .slice(0, VIOLATIONS_MAX)
    .map(({ path, message: text }) => ({ path, message: truncate(text, MESSAGE_BYTES_MAX / 2) }));
  const fitting = fitViolations(violations);
  const total = error.violations.length;
  const rich: RichStatus = {
    code,
    message,
    info: { reason: error.reason, domain: DOMAIN, metadata: details },
    violations: withOmission(fitting, total),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, Buffer.from(encodeRichStatus(rich)));
  if (error.retryAfterMs !== undefined) metadata.set(...NOT_REPEATED);
  if (fitting.length < violations.length) {
    const bytesLeft = DETAILS_BYTES_MAX - Buffer.byteLength(details["details"] ?? "");
    const { packed, count } = packViolations(violations, total, bytesLeft);
    if (count > fitting.length) metadata.set(VIOLATIONS_KEY, packed);
  }
  // grpc-js percent-encodes the plain text, which at worst triples it.
  return { code, details: truncate(message, MESSAGE_BYTES_MAX / 3), metadata };
}

/**
 * The AppError of a failed call. With details the AppError is the server's own error. Otherwise the status
 * code decides, and nothing of the cause is revealed.
 */
export function fromServiceError(error: ServiceError, rpc = "a service"): AppError {
  const rich = readDetails(error);
  const internal = `${rpc}: ${Code[error.code] ?? error.code} ${error.details}`;
  if (rich?.info?.domain === DOMAIN && isReason(rich.info.reason)) {
    const details = decodeDetails(rich.info.metadata);
    return new AppError(rich.info.reason, rich.message, {
      internal,
      violations: readPackedViolations(error) ?? rich.violations,
      cause: error,
      ...(details === undefined ? {} : { details }),
      ...(rich.retryAfterMs === undefined ? {} : { retryAfterMs: rich.retryAfterMs }),
    });
  }
  const [reason, message] = ERROR_BY_CODE[error.code] ?? INTERNAL;
  return new AppError(reason, message, { internal, cause: error });
}

function codeOf(reason: Reason): Code {
  const code: number = GRPC_CODE_BY_REASON[reason];
  return isCode(code) ? code : Code.INTERNAL;
}

function isCode(value: number): value is Code {
  return Code[value] !== undefined;
}

function readDetails(error: ServiceError): RichStatus | undefined {
  const value = error.metadata?.get(DETAILS_KEY)[0];
  if (value === undefined || typeof value === "string") return undefined;
  try {
    return decodeRichStatus(value);
  } catch {
    return undefined;
  }
}

function readPackedViolations(error: ServiceError): Violation[] | undefined {
  const value = error.metadata?.get(VIOLATIONS_KEY)[0];
  return value === undefined || typeof value === "string" ? undefined : unpackViolations(value);
}

function encodeDetails(details: unknown): Record<string, string> {
  if (details === undefined) return {};
  const json = toJson(details);
  const fits = json !== undefined && Buffer.byteLength(json) <= DETAILS_BYTES_MAX;
  return fits ? { details: json } : { details_omitted: "true" };
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The details contain a cycle or a BigInt; the error itself matters more.
    return undefined;
  }
}

function decodeDetails(metadata: Readonly<Record<string, string>>): unknown {
  const json = metadata["details"];
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The first violations, up to the room of the standard details. */
function fitViolations(violations: readonly Violation[]): readonly Violation[] {
  let bytes = 0;
  const end = violations.findIndex(({ path, message }) => {
    bytes += Buffer.byteLength(JSON.stringify(path)) + Buffer.byteLength(message) + 10;
    return bytes > VIOLATIONS_BYTES_MAX;
  });
  return end === -1 ? violations : violations.slice(0, end);
}

/** Cuts a text to a number of UTF-8 bytes. Lone surrogates, which no header can contain, are replaced. */
function truncate(text: string, bytesMax: number): string {
  const wellFormed = text.toWellFormed();
  if (Buffer.byteLength(wellFormed) <= bytesMax) return wellFormed;
  const cut = Buffer.from(wellFormed).subarray(0, Math.floor(bytesMax) - 3);
  return `${new TextDecoder().decode(cut, { stream: true })}…`;
}
