import type { ExecutionError } from "../domain/execution-error.ts";
import { Excerpt } from "../domain/step-error.ts";
import type { StepError } from "../domain/step-error.ts";
import type { Scrubber } from "@workflow/scrubber";

/**
 * A step's failure as it may be stored: without secrets, and no longer than it is meant to be. This is
 * the one place where the words of others are cut, because a cut hides the rest of a secret from those
 * who look for it: whatever is cut is scrubbed whole before (D19).
 */
export function toErrorRecord(error: StepError, scrubber: Scrubber | null): ExecutionError {
  const { messageCharsMax: charsMax } = error;
  const message = cut(scrubber?.cutText(error.message, charsMax) ?? error.message, charsMax);
  if (error.details === undefined) return { code: error.code, message };
  const entries = Object.entries(error.details).map(([name, value]) => [
    name,
    value instanceof Excerpt ? excerptOf(value, scrubber) : value,
  ]);
  const details: Record<string, unknown> = Object.fromEntries(entries);
  const clean = scrubber === null ? details : scrubber.json(details);
  return { code: error.code, message, details: isRecord(clean) ? clean : {} };
}

function excerptOf({ whole, charsMax }: Excerpt, scrubber: Scrubber | null): string {
  const clean = scrubber === null ? whole : scrubber.json(whole);
  const text = typeof clean === "string" ? clean : (JSON.stringify(clean) ?? "null");
  return cut(scrubber?.text(text) ?? text, charsMax);
}

/** Half of a surrogate pair is left out. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return text.slice(0, end);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
