import { isJsonObject, JSON_DEPTH_MAX } from "@workflow/json";
import type { Ajv, Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv as Ajv07 } from "ajv";
import ajvFormats from "ajv-formats";
import { DEFINITION_LIMITS } from "./limits.ts";
import { compilePattern } from "./pattern.ts";
import type { PatternMeter } from "./pattern.ts";

/** The drafts of JSON Schema that are understood. */
export type Draft = "2020-12" | "draft-07";

/** Thrown inside a validation that would take too long. */
export class TooExpensiveError extends Error {
  override readonly name = "TooExpensiveError";
}

/** Thrown while a schema is compiled that has a pattern which RE2 can't read. */
export class UnusablePatternError extends Error {
  override readonly name = "UnusablePatternError";
  readonly source: string;

  constructor(source: string, message: string) {
    super(`The pattern ${JSON.stringify(source)} is not valid: ${message}`);
    this.source = source;
  }
}

/**
 * The work that one validation may do. One unit is about 200 characters of generated code for one node of the
 * value, 5 ns on average. The budget is 40 ms; an ordinary validation takes some thousand units.
 */
export const WORK_MAX = 8_000_000;
/** The work of a search for all violations, not only the first. The limit also bounds their number. */
export const WORK_ALL_ERRORS_MAX = 250_000;

const CODE_CHARS_PER_UNIT = 200;
const UNITS_PER_ERROR = 10;
const ERRORS_COPIED_PER_UNIT = 2;
/** A step of a pattern takes up to 30 ns. */
const UNITS_PER_PATTERN_STEP = 6;

/**
 * The units left to the validations of one schema, and the hooks that spend them. ajv itself has no limit:
 * chained references take exponential time, and failing `$ref`s copy their errors in quadratic time.
 */
class WorkMeter implements PatternMeter {
  private unitsLeft = 0;
  private sizes = new Map<object, number>();
  private patterns = 0;

  reset(units: number): void {
    this.unitsLeft = units;
    this.sizes = new Map();
  }

  spend(units: number): void {
    this.unitsLeft -= units;
    if (this.unitsLeft < 0) throw new TooExpensiveError();
  }

  spendSteps(steps: number): boolean {
    this.spend(steps * UNITS_PER_PATTERN_STEP);
    return true;
  }

  /** Charges a generated function at its start: the function may visit every node below `data`. */
  enter(codeUnits: number, data: unknown): void {
    this.spend(codeUnits * this.measure(data, 0));
  }

  keepError<T>(errors: T[], error: T): void {
    this.spend(UNITS_PER_ERROR);
    errors.push(error);
  }

  joinErrors<T>(errors: T[], others: T[]): T[] {
    this.spend(Math.ceil((errors.length + others.length) / ERRORS_COPIED_PER_UNIT));
    // oxlint-disable-next-line unicorn/prefer-spread -- several times slower on long arrays
    return errors.concat(others);
  }

  /** ajv's `code.regExp`: RE2, so that `^(a+)+$` can't block. */
  compileRegExp(source: string): { test: (text: string) => boolean; toString: () => string } {
    const compiled = compilePattern(source);
    if (!compiled.ok) {
      throw new UnusablePatternError(source, compiled.message);
    }
    const { pattern } = compiled;
    this.patterns += pattern.size;
    if (this.patterns > DEFINITION_LIMITS.patternSizeSumMax) {
      throw new Error("The patterns are too large together; use fewer or simpler ones");
    }
    return {
      test: (text) => {
        const matches = pattern.test(text, this);
        if (matches === null) throw new TooExpensiveError();
        return matches;
      },
      // ajv tells patterns apart by their text.
      toString: () => source,
    };
  }

  /** The number of nodes of a value, the root included. */
  private measure(value: unknown, depth: number): number {
    if (typeof value !== "object" || value === null) return 1;
    if (depth > JSON_DEPTH_MAX) throw new TooExpensiveError();
    const known = this.sizes.get(value);
    if (known !== undefined) return known;
    let size = 1;
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const item of items) size += this.measure(item, depth + 1);
    this.sizes.set(value, size);
    return size;
  }
}

/** The ajv instance of one schema, and the meter of its validations. */
export interface BudgetedAjv {
  ajv: Ajv;
  meter: WorkMeter;
}

/**
 * Makes an ajv for a single schema (0.6 ms), so that an `$id` can't reach another tenant's schema. The
 * instance loads no remote schema, reads own properties only and compiles patterns with RE2.
 */
export function createAjv(draft: Draft, allErrors: boolean): BudgetedAjv {
  const meter = new WorkMeter();
  const regExp = Object.assign((source: string) => meter.compileRegExp(source), {
    code: "meter.compileRegExp",
  });
  const options: Options = {
    allErrors,
    // Unknown keywords and formats are annotations (JSON Schema core, 4.3.1).
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    // Without inlining the generated code is linear in the schema, and each use is metered.
    inlineRefs: false,
    // The optimizer walks the code recursively, which overflows on a few thousand keywords.
    code: { regExp, process: meterCode, optimize: false },
  };
  const ajv = draft === "2020-12" ? new Ajv2020(options) : new Ajv07(options);
  ajvFormats.default(ajv);
  Object.assign(ajv, { meter });
  replaceUniqueItems(ajv, meter);
  return { ajv, meter };
}

/** The head of a validating function in generated code. No text of the schema stands before it. */
const FUNCTION_HEAD = /return function \w+\(data, ?\{[^{}]*(?:\{\}[^{}]*)*\}=\{\}\)\{/;
/** A string literal, which stays as it is, or a place where errors are collected. */
const STRING_OR_ERRORS = /"[^"\\]*(?:\\.[^"\\]*)*"|vErrors\.(?:push|concat)\(/g;

/** Puts the meter into the code that ajv generates, where `self` is the ajv. */
function meterCode(code: string): string {
  const units = Math.ceil(code.length / CODE_CHARS_PER_UNIT);
  const metered = code.replaceAll(STRING_OR_ERRORS, (found) => {
    if (found === "vErrors.push(") return "self.meter.keepError(vErrors, ";
    return found === "vErrors.concat(" ? "self.meter.joinErrors(vErrors, " : found;
  });
  // Fails closed: a function that is not metered would run without any limit.
  if (!FUNCTION_HEAD.test(metered)) throw new Error("ajv generates code of an unknown form");
  return metered.replace(FUNCTION_HEAD, (head) => `${head}self.meter.enter(${units}, data);`);
}

/** ajv compares every pair of items. A set of canonical texts needs one pass. */
function replaceUniqueItems(ajv: Ajv, meter: WorkMeter): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (isWanted: boolean, items: readonly unknown[]) => {
      if (!isWanted) return true;
      meter.enter(1, items);
      return new Set(items.map(canonicalJson)).size === items.length;
    },
  });
}

/** A canonical text: equal JSON values give equal texts. Keys are sorted by their code units. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
