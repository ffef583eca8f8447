import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { DEFINITION_LIMITS } from "./limits.ts";

const PATTERN_CHARS_MAX = DEFINITION_LIMITS.patternCharsMax;

/**
 * Instructions × characters that one match may take. RE2 is linear in the text, with the program's
 * size as the factor: measured at up to 30 ns a unit where its automaton can't be cached
 * (`[ab]*a[ab]{800}[cd]`), which makes this 0.15 s at the very worst, and 0.5 ns otherwise.
 */
const PATTERN_WORK_MAX = 5_000_000;

/** A regular expression in RE2 syntax: no back-references, no look-around, never exponential. */
export interface Pattern {
  /** Size of the compiled program, the factor of a match's cost. */
  readonly instructions: number;
  /** Whether the pattern matches anywhere in the text; null when that would cost too much. */
  test(text: string): boolean | null;
}

export type PatternResult =
  { ok: true; pattern: Pattern } | { ok: false; /** What is wrong. */ message: string };

/** Bad patterns are kept as well: a template may bring the same one in a thousand times. */
const compiledPatterns = new LRUCache<string, PatternResult>({ max: 500 });

/** Compiles a pattern, or says why it can't be. Never throws. */
export function compilePattern(source: string, ignoreCase = false): PatternResult {
  if (source.length > PATTERN_CHARS_MAX) {
    return { ok: false, message: `a pattern has at most ${PATTERN_CHARS_MAX} characters` };
  }
  const key = `${ignoreCase ? "i" : "-"}${source}`;
  const known = compiledPatterns.get(key);
  if (known !== undefined) return known;
  const result = compileAnew(source, ignoreCase);
  compiledPatterns.set(key, result);
  return result;
}

function compileAnew(source: string, ignoreCase: boolean): PatternResult {
  try {
    const program = RE2JS.compile(
      RE2JS.translateRegExp(source),
      ignoreCase ? RE2JS.CASE_INSENSITIVE : 0,
    );
    const instructions = program.programSize();
    return {
      ok: true,
      pattern: {
        instructions,
        test: (text) => (instructions * text.length > PATTERN_WORK_MAX ? null : program.test(text)),
      },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, message: `${reason} (RE2 syntax: no look-around, no back-references)` };
  }
}
