import { LRUCache } from "lru-cache";
import { RE2JS, RE2Set } from "re2js";
import { DEFINITION_LIMITS } from "./limits.ts";
import { estimatePatternSize } from "./pattern-size.ts";

/**
 * The steps that patterns may take in one go: 15 ms at 30 ns each. RE2 takes linear time in the text, with
 * the program's size as the factor. Measured: up to 30 ns for an instruction and character where the
 * automaton cannot be kept (`[ab]*a[ab]{800}[cd]`), and 0.5 ns otherwise.
 */
const PATTERN_STEPS_MAX = 500_000;
/** The steps of compiling one instruction, some 3 µs. */
const STEPS_PER_INSTRUCTION = 100;

/** Takes steps for a pattern; false when too few are left. */
export interface PatternMeter {
  spendSteps(steps: number): boolean;
}

/** Creates a meter with a number of steps. */
export function createPatternMeter(steps = PATTERN_STEPS_MAX): PatternMeter {
  let left = steps;
  return {
    spendSteps(spent) {
      left -= spent;
      return left >= 0;
    },
  };
}

/** A regular expression in RE2 syntax: no back-references, no look-around, never exponential. */
export interface Pattern {
  /** An upper bound of its instructions, the factor of a match's cost. */
  readonly size: number;
  /** Whether the pattern matches anywhere in the text; null when that would cost too much. */
  test(text: string, meter: PatternMeter): boolean | null;
}

export type PatternResult =
  | { ok: true; pattern: Pattern }
  | {
      ok: false;
      /** Whether the reason is the pattern's size, and not its syntax. */
      isTooLarge: boolean;
      /** The reason, in words. */
      message: string;
    };

/** The memory limit of one program's automaton, in bytes: a fraction of RE2's own 8 MiB. */
const AUTOMATON_BYTES_MIN = 64 * 1024;
const AUTOMATON_BYTES_MAX = 512 * 1024;
const AUTOMATON_BYTES_PER_INSTRUCTION = 2 * 1024;
const PROGRAM_BYTES_PER_INSTRUCTION = 256;

/** Programs by their source; each counts the bytes that it may need. */
const programs = new LRUCache<string, RE2Set>({ maxSize: 64 * 1024 * 1024 });
/** Results by source: a template may give the same source a thousand times. */
const results = new LRUCache<string, PatternResult>({ maxSize: 4 * 1024 * 1024 });
const RESULT_BYTES = 512;

/**
 * Compiles a pattern, or gives the reason why not. Never throws; takes at most some 10 ms.
 *
 * @param meter the steps that patterns may still take, for a pattern that a run's data gives
 */
export function compilePattern(
  source: string,
  ignoreCase = false,
  meter?: PatternMeter,
): PatternResult {
  const { patternCharsMax, patternSizeMax } = DEFINITION_LIMITS;
  if (source.length > patternCharsMax) {
    return tooLarge(`a pattern has at most ${patternCharsMax} characters`);
  }
  const key = `${ignoreCase ? "i" : "-"}${source}`;
  const known = results.get(key);
  if (known !== undefined) return known;
  const size = estimatePatternSize(source);
  if (size > patternSizeMax) {
    return tooLarge(`it is too large; what it repeats comes to more than ${patternSizeMax} parts`);
  }
  if (meter?.spendSteps(size * STEPS_PER_INSTRUCTION) === false) {
    return tooLarge("the patterns are too large together");
  }
  const result = compileAnew(source, ignoreCase, size);
  results.set(key, result, { size: RESULT_BYTES + 2 * key.length });
  return result;
}

function tooLarge(message: string): PatternResult {
  return { ok: false, isTooLarge: true, message };
}

/** The program is discarded: a definition's pattern is tried here and used in another process. */
function compileAnew(source: string, ignoreCase: boolean, estimate: number): PatternResult {
  try {
    const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
    const text = RE2JS.translateRegExp(source);
    const size = Math.max(estimate, RE2JS.compile(text, flags).programSize());
    const test = (tested: string, meter: PatternMeter): boolean | null => {
      if (!meter.spendSteps(size * tested.length)) return null;
      const program = findProgram(text, flags, size, meter);
      return program === null ? null : program.match(tested).length > 0;
    };
    return { ok: true, pattern: { size, test } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${reason} (RE2 syntax: no look-around, no back-references)`;
    return { ok: false, isTooLarge: false, message };
  }
}

/** Null when there are too few steps left to compile it. */
function findProgram(
  text: string,
  flags: number,
  size: number,
  meter: PatternMeter,
): RE2Set | null {
  const key = `${flags} ${text}`;
  const known = programs.get(key);
  if (known !== undefined) return known;
  if (!meter.spendSteps(size * STEPS_PER_INSTRUCTION)) return null;
  const wanted = size * AUTOMATON_BYTES_PER_INSTRUCTION;
  const automaton = Math.min(Math.max(wanted, AUTOMATON_BYTES_MIN), AUTOMATON_BYTES_MAX);
  // A set of one pattern: only the sets of RE2JS let the automaton be limited.
  const program = new RE2Set(RE2Set.UNANCHORED, flags, automaton);
  program.add(text);
  program.compile();
  programs.set(key, program, { size: automaton + size * PROGRAM_BYTES_PER_INSTRUCTION });
  return program;
}
