import { AppError, nameFirst } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isStorableText } from "@workflow/json";

/** The parameters of a query string; an object without prototype. */
export type Query = Readonly<Record<string, string>>;

const NO_QUERY: Query = Object.freeze(Object.create(null));

/**
 * Parses the query string of a request target. Every parameter is one plain text. Repeated
 * parameters, bracket forms for lists, and text that cannot be decoded or stored are refused.
 *
 * @throws AppError BAD_REQUEST with every problem
 */
export function parseQuery(target: string): Query {
  const start = target.indexOf("?");
  if (start === -1 || start === target.length - 1) return NO_QUERY;
  const query: Record<string, string> = Object.create(null);
  const violations: Violation[] = [];
  for (const pair of target.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const problem = problemOf(query, name, value);
    if (problem !== null) violations.push({ path: [name ?? pair], message: problem });
    else if (name !== null && value !== null) query[name] = value;
  }
  if (violations.length > 0) {
    const message = nameFirst("The query string is not valid", violations);
    throw new AppError("BAD_REQUEST", message, { violations });
  }
  return query;
}

function problemOf(query: Query, name: string | null, value: string | null): string | null {
  if (name === null || value === null) return "must be percent-encoded UTF-8";
  if (!isStorableText(name) || !isStorableText(value)) return "must not contain NUL characters";
  if (name in query) return "must be given once";
  if (name.includes("[")) return "must be a single value, not a list";
  return null;
}

function decode(text: string): string | null {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
