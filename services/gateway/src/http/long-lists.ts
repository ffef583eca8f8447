import type { Violation } from "@workflow/errors";
import { z } from "zod";

/**
 * More elements of no list of a body are looked at one by one: a body of 1 MiB can hold half a million that
 * are all wrong, and to find that out takes a second in which nobody else is served.
 */
const ELEMENTS_MAX = 10_000;

/** The way to a list in a body; null stands for every element of a list. */
type ListPlace = readonly (string | null)[];

/** The lists of a body whose elements its schema describes. */
export function listPlacesOf(schema: z.ZodType, place: ListPlace = []): ListPlace[] {
  if (schema instanceof z.ZodObject) {
    const members = Object.entries<z.ZodType>(schema.shape);
    return members.flatMap(([name, member]) => listPlacesOf(member, [...place, name]));
  }
  if (schema instanceof z.ZodArray) {
    const { element } = schema;
    if (!(element instanceof z.ZodType) || element instanceof z.ZodUnknown) return [];
    return [place, ...listPlacesOf(element, [...place, null])];
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    const inner = schema.unwrap();
    return inner instanceof z.ZodType ? listPlacesOf(inner, place) : [];
  }
  if (schema instanceof z.ZodDefault) {
    const inner = schema.unwrap();
    return inner instanceof z.ZodType ? listPlacesOf(inner, place) : [];
  }
  return [];
}

/** The first list at one of the places that is too long to look at. */
export function findLongList(value: unknown, places: readonly ListPlace[]): Violation | null {
  for (const place of places) {
    const found = follow(value, place, []);
    if (found === null) continue;
    return { path: found, message: `must have at most ${ELEMENTS_MAX} elements` };
  }
  return null;
}

function follow(value: unknown, [next, ...rest]: ListPlace, path: string[]): string[] | null {
  if (next === undefined) {
    return Array.isArray(value) && value.length > ELEMENTS_MAX ? path : null;
  }
  if (next !== null) {
    const isThere = isObjectOrArray(value) && Object.hasOwn(value, next);
    const member: unknown = isThere ? Reflect.get(value, next) : undefined;
    return follow(member, rest, [...path, next]);
  }
  if (!Array.isArray(value)) return null;
  for (const [index, element] of value.entries()) {
    const found = follow(element, rest, [...path, String(index)]);
    if (found !== null) return found;
  }
  return null;
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
