import { isJsonObject } from "@workflow/json";
import type { JsonPath } from "./provider-manifest.ts";

/** The value at this path; undefined where there is none. The empty path is the value itself. */
export function readPath(value: unknown, path: JsonPath): unknown {
  if (path === "") return value;
  let found = value;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = step(found, key);
  }
  return found;
}

function step(value: object, key: string): unknown {
  if (key === "$list") return Object.values(value).find((member) => Array.isArray(member));
  if (Array.isArray(value)) {
    if (key === "$last") return value.at(-1);
    const [, member, wanted] = /^([^=]+)=(.*)$/.exec(key) ?? [];
    if (member !== undefined) {
      return value.find((item) => isJsonObject(item) && String(readPath(item, member)) === wanted);
    }
  }
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Sets a member and creates missing objects on the path. */
export function writePath(target: Record<string, unknown>, path: JsonPath, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let place = target;
  for (const key of keys) {
    const next = Object.hasOwn(place, key) ? place[key] : undefined;
    if (isJsonObject(next)) {
      place = next;
    } else {
      const made: Record<string, unknown> = {};
      place[key] = made;
      place = made;
    }
  }
  place[last] = value;
}
