import type { Reason } from "@workflow/errors";
import type { Route } from "../route-table-entry.ts";

/** The errors of every request, whatever its route. */
const OF_ALL: readonly Reason[] = [
  "BAD_REQUEST",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "UNAVAILABLE",
];

/** The errors of callers with a credential before the handler begins (D2). */
const OF_CALLERS: readonly Reason[] = ["UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED"];

/** The errors of a body (D4). */
const OF_BODIES: readonly Reason[] = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];

/** Every error of an operation: those of its kind, and those that it declares. */
export function errorsOf(route: Route): ReadonlySet<Reason> {
  return new Set([
    ...OF_ALL,
    ...(route.scope === "everybody" ? [] : OF_CALLERS),
    ...(hasBody(route) ? OF_BODIES : []),
    ...route.errors,
  ]);
}

/** GET and DELETE have no body in this API. */
export function hasBody({ method }: Route): boolean {
  return method !== "GET" && method !== "DELETE";
}
