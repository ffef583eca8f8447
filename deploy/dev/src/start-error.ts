import { isNativeError } from "node:util/types";

const CAUSES_MAX = 5;

/** The reason why the system cannot run, for the person who started it. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** The messages of an error and of its causes in one line. */
export function explain(error: unknown): string {
  const messages: string[] = [];
  let current = error;
  while (current !== undefined && current !== null && messages.length < CAUSES_MAX) {
    const message = messageOf(current);
    // A wrapping error often quotes its cause already.
    if (!messages.some((known) => known.includes(message))) messages.push(message);
    current = isNativeError(current) ? current.cause : undefined;
  }
  return messages.join(": ");
}

/** The code of an error of Node or a library, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = isNativeError(error) ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return [...new Set(error.errors.map(messageOf))].join(", ");
  }
  return isNativeError(error) ? error.message : String(error);
}
