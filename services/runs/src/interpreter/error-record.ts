import type { ExecutionError } from "../domain/execution-error.ts";
import { Excerpt } from "../domain/step-error.ts";
import type { StepError } from "../domain/step-error.ts";
import type { Scrubber } from "@workflow/scrubber";

/**
 * A step's failure as it may be stored: without secrets, and cut to its length. This is the one place
 * that cuts texts from outside, because a cut could leave a part of a secret that nobody recognizes. So
 * the scrubber sees enough text beyond the cut to find every secret that begins before it (D19). Other
 * runs get their turns meanwhile.
 */
export async function toErrorRecord(
  error: StepError,
  scrubber: Scrubber | null,
): Promise<ExecutionError> {
  const { messageCharsMax: charsMax } = error;
  const words = (await scrubber?.cutTextInTurns(error.message, charsMax)) ?? error.message;
  const message = cut(words, charsMax);
  if (error.details === undefined) return { code: error.code, message };
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(error.details)) {
    entries.push([name, value instanceof Excerpt ? await excerptOf(value, scrubber) : value]);
  }
  const details: Record<string, unknown> = Object.fromEntries(entries);
  const clean = scrubber === null ? details : await scrubber.jsonInTurns(details);
  return { code: error.code, message, details: isObjectOrArray(clean) ? clean : {} };
}

async function excerptOf(
  { whole, charsMax, mayBeCut }: Excerpt,
  scrubber: Scrubber | null,
): Promise<string> {
  // Of a text only the beginning is scrubbed. JSON is scrubbed as a whole, since some secrets are only
  // known as values.
  const isText = typeof whole === "string";
  const clean = scrubber === null || isText ? whole : await scrubber.jsonInTurns(whole);
  const text = typeof clean === "string" ? clean : (JSON.stringify(clean) ?? "null");
  if (scrubber === null) return cut(text, charsMax);
  const isCut = mayBeCut || text.length > charsMax;
  return cut(
    isCut ? await scrubber.cutTextInTurns(text, charsMax) : await scrubber.textInTurns(text),
    charsMax,
  );
}

/** Cuts a text, and drops half of a surrogate pair at the end. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return text.slice(0, end);
}

function isObjectOrArray(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
