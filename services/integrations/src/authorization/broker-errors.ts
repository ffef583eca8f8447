import { readPath } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { refusalOf } from "./oauth-errors.ts";
import { OperatorFaultError } from "./operator-faults.ts";

/** An answer of the broker with an error status. */
export interface BrokerAnswer {
  status: number;
  body: unknown;
}

/** The broker has answered with an error. */
export class BrokerStatusError extends AppError {
  readonly answer: BrokerAnswer;

  constructor(answer: BrokerAnswer) {
    super("UPSTREAM_ERROR", unready(`It answered ${answer.status}.`));
    this.answer = answer;
  }
}

/** The error for a broker without a readable answer. */
export function brokerUnready(why: string, cause?: unknown): AppError {
  return new AppError("UPSTREAM_ERROR", unready(why), { cause });
}

/**
 * The error for an answer with an error status. The operator is at fault when the broker refuses its
 * key, is not at the address, or does not know the integration.
 */
export function brokerFailure(answer: BrokerAnswer, integration: string): AppError {
  const { status } = answer;
  if (status === 401 || status === 403) {
    return new OperatorFaultError("NANGO_SECRET_KEY", unready("It refuses NANGO_SECRET_KEY."));
  }
  if (isUnknownConnection(answer)) return new BrokerStatusError(answer);
  if (status === 400 && refusesTags(answer)) return withoutTags();
  if (NO_SUCH_ADDRESS.includes(status)) return brokerElsewhere(status);
  const isIntegrationUnknown = status === 400 && codeOf(answer) !== REFUSED_REFRESH;
  if (!isIntegrationUnknown) return new BrokerStatusError(answer);
  const why = unready("The provider is not set up there.");
  return new OperatorFaultError(`the integration ${integration} at the broker`, why);
}

/** The server at the address is no broker. */
export function brokerElsewhere(status: number): OperatorFaultError {
  const why = `NANGO_BASE_URL leads to a server without its API, which answered ${status}.`;
  return new OperatorFaultError("NANGO_BASE_URL", unready(why));
}

const refusedBody = z.object({
  error: z.object({
    errors: z.array(z.looseObject({ path: z.array(z.unknown()).optional(), message: z.string() })),
  }),
});

/**
 * Whether the form of a session is refused. Installations older than tags do not know the member
 * `tags`, and expect `end_user` instead.
 */
function refusesTags({ body }: BrokerAnswer): boolean {
  const parsed = refusedBody.safeParse(body);
  if (!parsed.success) return false;
  return parsed.data.error.errors.some(
    ({ path = [], message }) =>
      path[0] === "tags" || path[0] === "end_user" || /\btags\b/.test(message),
  );
}

/** The error for a list by tags. Older installations refuse it, or have no such list. */
export function listFailure(answer: BrokerAnswer, integration: string): AppError {
  const { status } = answer;
  return status === 400 || status === 404 ? withoutTags() : brokerFailure(answer, integration);
}

/**
 * The error for a broker without tags. Without tags nothing ties a connection to its attempt, so no
 * connection may count.
 */
export function withoutTags(): OperatorFaultError {
  const why =
    "The OAuth broker has no connections with tags, which are needed: what answers at NANGO_BASE_URL is a version of Nango from before February 2026, or something else.";
  return new OperatorFaultError("NANGO_BASE_URL", why);
}

const NO_SUCH_ADDRESS: readonly number[] = [404, 405, 410];
/** The broker's own code for credentials that it could not renew. */
const REFUSED_REFRESH = "invalid_credentials";
/** The broker's codes for an unknown connection: when reading one, and when deleting one. */
const UNKNOWN_CONNECTION: readonly unknown[] = ["not_found", "unknown_connection"];

/** Whether the broker says that it has no such connection. Other servers may say so about any address. */
export function isUnknownConnection(answer: BrokerAnswer): boolean {
  const isError = answer.status === 404 || answer.status === 400;
  return isError && UNKNOWN_CONNECTION.includes(codeOf(answer));
}

/** The broker no longer has a connection, which only a new authorization can repair. */
export function connectionGone(cause: Error): AuthorizationRefusedError {
  return new AuthorizationRefusedError("The broker has no such connection.", "invalid_grant", {
    cause,
  });
}

/**
 * The error when the broker could not renew credentials. The provider's own code counts when the answer
 * contains it. Without one, 424 means that the broker has given up. Other errors may pass.
 */
export function brokerRefusal(error: BrokerStatusError, integration: string): Error {
  const { status, body } = error.answer;
  if (status !== 424 && codeOf(error.answer) !== REFUSED_REFRESH) return error;
  if (codeOf(error.answer) === BACKING_OFF) return error;
  const said = providerCode(body, PROVIDER_CODE_DEPTH);
  if (said === null) {
    const text = "The provider has ended the authorization.";
    if (status === 424) {
      return new AuthorizationRefusedError(text, "invalid_grant", { cause: error });
    }
    return brokerUnready("It could not renew the authorization.", error);
  }
  const refusal = refusalOf("The provider", said, { cause: error });
  if (refusal instanceof AuthorizationRefusedError && refusal.isApplicationRefused) {
    const setting = `client id and secret of the integration ${integration} at the broker`;
    const why = `The provider refuses the broker's application (${refusal.code}).`;
    return new OperatorFaultError(setting, unready(why), { cause: error });
  }
  return refusal;
}

/** The broker's code for a renewal that failed a moment ago and is not tried again yet. */
const BACKING_OFF = "connection_refresh_backoff";
const PROVIDER_CODE_DEPTH = 6;

/** The `error` of a token answer (RFC 6749, 5.2), at any depth of the broker's answer. */
function providerCode(value: unknown, depth: number): string | null {
  if (typeof value === "string") return providerCode(parseObject(value), depth - 1);
  if (typeof value !== "object" || value === null || depth <= 0) return null;
  const own = readPath(value, "error");
  if (typeof own === "string" && own !== "") return own;
  for (const each of Object.values(value)) {
    const found = providerCode(each, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function parseObject(text: string): unknown {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function codeOf({ body }: BrokerAnswer): unknown {
  return readPath(body, "error.code");
}

function unready(why: string): string {
  return `The OAuth broker cannot be asked at the moment. ${why}`;
}
