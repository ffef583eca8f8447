/**
 * Treats what the service sends as its description says. The service guarantees that. A check here would refuse
 * additions of newer services.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the place that wants the value says what it is
export function asDescribed<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where answers get their types
  return value as T;
}

/** Whether a value has members, as objects and arrays do. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
