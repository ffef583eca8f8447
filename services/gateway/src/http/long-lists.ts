import type { Violation } from "@workflow/errors";
import { z } from "zod";

/**
 * Longer lists are not checked element by element: a body of 1 MiB can hold half a million wrong
 * elements, and finding them blocks the event loop for a second.
 */
const ELEMENTS_MAX = 10_000;

/** The path of a list in a body; null matches every element of a list. */
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

/** The first list at one of these paths that is too long. */
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
