/**
 * Takes what the service sends for what its description says. The service holds itself to that; a check here would
 * make this version refuse what newer services add.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the place that wants the value says what it is
export function asDescribed<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where answers get their types
  return value as T;
}

/** Whether a value has members: objects and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
