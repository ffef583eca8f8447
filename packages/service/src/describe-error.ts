import { isNativeError } from "node:util/types";

const CAUSES_MAX = 5;

/** The logged part of an error. */
export interface ErrorDescription {
  type: string;
  message: string;
  stack: string | undefined;
  code?: string | number;
  reason?: string;
  internal?: string;
  cause?: ErrorDescription;
}

/**
 * Picks the parts of an error that help to find its origin. Other members of libraries' errors stay out
 * of the log: a database error's detail quotes row values, and an HTTP client's error has the whole
 * request.
 */
export function describeError(value: unknown): ErrorDescription {
  return describe(value, CAUSES_MAX);
}

function describe(value: unknown, causesLeft: number): ErrorDescription {
  // `instanceof` is false for errors of another realm, such as Node's own under Jest.
  if (!isNativeError(value)) {
    return { type: typeof value, message: String(value), stack: undefined };
  }
  const description: ErrorDescription = {
    type: value.name,
    message: value.message,
    stack: value.stack,
  };
  const code: unknown = Reflect.get(value, "code");
  const reason: unknown = Reflect.get(value, "reason");
  const internal: unknown = Reflect.get(value, "internal");
  if (typeof code === "string" || typeof code === "number") description.code = code;
  if (typeof reason === "string") description.reason = reason;
  if (typeof internal === "string") description.internal = internal;
  if (value.cause !== undefined && causesLeft > 0) {
    description.cause = describe(value.cause, causesLeft - 1);
  }
  return description;
}
