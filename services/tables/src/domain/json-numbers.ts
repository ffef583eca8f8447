import { INFINITE_NUMBER, listInfiniteNumbers, listLostNumbers, LOST_NUMBER } from "@workflow/json";
import type { FieldPath } from "./problems.ts";

/**
 * Reports the numbers of a JSON text that a double cannot hold exactly (D5).
 * @param value the parsed text
 */
export function reportLostNumbers(text: string, value: unknown, place: FieldPath): void {
  for (const path of listLostNumbers(text, value)) place.at(...path).report(LOST_NUMBER);
}

/**
 * Reports the numbers of a JSON text that would be stored as null.
 * @param value the parsed text
 * @returns whether there are any
 */
export function reportInfiniteNumbers(text: string, value: unknown, place: FieldPath): boolean {
  const paths = listInfiniteNumbers(text, value);
  for (const path of paths) place.at(...path).report(INFINITE_NUMBER);
  return paths.length > 0;
}
