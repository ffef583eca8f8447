/**
 * The number of containers that may surround a value. The API refuses deeper bodies before (D2).
 */
export const JSON_DEPTH_MAX = 128;

/** A JSON object after `JSON.parse`. Only its own properties are read. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * An own property, or undefined. `constructor` and `__proto__` are found only when the JSON has them.
 */
export function ownProperty(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets an own property, even one called `__proto__`, which a plain assignment would drop. */
export function setOwnProperty(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}

/**
 * Deep equality of JSON values, without recursion. The order of an object's keys does not count.
 */
export function jsonEquals(left: unknown, right: unknown): boolean {
  const pending: [unknown, unknown][] = [[left, right]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      for (const [index, item] of a.entries()) pending.push([item, b[index]]);
    } else if (isJsonObject(a) && isJsonObject(b)) {
      const keys = Object.keys(a);
      if (keys.length !== Object.keys(b).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false;
        pending.push([a[key], b[key]]);
      }
    } else {
      return false;
    }
  }
  return true;
}

/**
 * Whether a value nests deeper than `JSON_DEPTH_MAX`. It visits level by level, without recursion, and notes only
 * arrays and objects: a list of 100,000 numbers is one entry.
 */
export function isTooDeep(root: unknown): boolean {
  let level = containersIn([root]);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= JSON_DEPTH_MAX) return true;
    level = level.flatMap(containersIn);
  }
  return false;
}

function containersIn(container: object): object[] {
  const items: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
  return items.filter((item) => typeof item === "object" && item !== null);
}

/**
 * The size of a value as JSON in UTF-8 bytes. It stops and returns Infinity once the size passes `bytesMax` or the
 * nesting passes `JSON_DEPTH_MAX`, so a hostile value costs no more than a fitting one.
 */
export function measureJson(value: unknown, bytesMax: number, depth = 0): number {
  if (typeof value === "string") return measureString(value, bytesMax);
  if (typeof value === "number") return String(value).length;
  if (typeof value !== "object" || value === null) return value === false ? 5 : 4;
  if (depth >= JSON_DEPTH_MAX) return Infinity;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + measureJson(item, bytesMax - bytes, depth + 1);
      if (bytes > bytesMax) return Infinity;
    }
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      bytes += 2 + measureString(key, bytesMax - bytes);
      if (bytes > bytesMax) return Infinity;
      bytes += measureJson(value[key], bytesMax - bytes, depth + 1);
      if (bytes > bytesMax) return Infinity;
    }
  }
  // The last member was counted with a comma, too.
  return bytes > 2 ? bytes - 1 : bytes;
}

/** Characters that JSON escapes, and surrogates, whose escaping depends on their neighbour. */
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

function measureString(text: string, bytesMax: number): number {
  if (text.length + 2 > bytesMax) return Infinity;
  const bytes = ESCAPED.test(text)
    ? Buffer.byteLength(JSON.stringify(text))
    : Buffer.byteLength(text) + 2;
  return bytes > bytesMax ? Infinity : bytes;
}
