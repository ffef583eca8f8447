import { boundedMessages, firstIssues } from "@workflow/catalog";
import type { Violation } from "@workflow/errors";
import type { z } from "zod";
import { ENTRIES_MAX, findOversized } from "./entry-budget.ts";
import { violationsOf } from "./zod-messages.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import type { ExpressionPath, ParsedExpressions } from "./expression.ts";
import { compileJsonSchema, countSchemaParts, estimateSchemaPatterns } from "./json-schema.ts";
import { compilePattern } from "./pattern.ts";

/** The options of a check. */
export interface ProblemsOptions {
  /** Whether a step may still be empty. */
  mayBeUnfinished?: boolean;
  /** Whether to skip patterns, because they are known to be valid or are tried on use. */
  skipsPatterns?: boolean;
  /** The results of parsing the definition's expressions. Without them expressions are not checked. */
  expressions?: ParsedExpressions;
}

/** Collects the violations of one definition, each once, up to the cap, and bounds the cost of checks. */
export class Problems {
  private readonly found: Violation[] = [];
  /** The paths, as JSON, of values whose shape is wrong. */
  private readonly misshapen = new Set<string>();
  private patternsLeft: number = DEFINITION_LIMITS.patternSizeSumMax;
  private schemaPartsLeft: number = DEFINITION_LIMITS.jsonSchemaPartsSumMax;
  private expressionCharsLeft: number = DEFINITION_LIMITS.expressionCharsSumMax;
  private readonly mayBeUnfinished: boolean;
  private readonly skipsPatterns: boolean;
  readonly expressions: ParsedExpressions;

  constructor(options: ProblemsOptions = {}) {
    const { mayBeUnfinished = false, skipsPatterns = false, expressions = new Map() } = options;
    this.mayBeUnfinished = mayBeUnfinished;
    this.skipsPatterns = skipsPatterns;
    this.expressions = expressions;
  }

  get violations(): Violation[] {
    return [...this.found];
  }

  /** Whether the cap is reached, so that a walk may stop. */
  get isFull(): boolean {
    return this.found.length >= DEFINITION_LIMITS.violationsMax;
  }

  /** Other problems of a value with a wrong shape follow from the shape, so they are not reported. */
  add(path: readonly string[], message: string): void {
    if (this.isFull || this.misshapen.has(JSON.stringify(path))) return;
    if (this.found.some((known) => isSame(known, path, message))) return;
    this.found.push({ path: [...path], message });
  }

  /** Adds that a step has no nested steps to execute; a draft allows that. */
  addUnfinished(path: readonly string[], message: string): void {
    if (!this.mayBeUnfinished) this.add(path, message);
  }

  addAll(path: readonly string[], violations: readonly Violation[]): void {
    for (const violation of violations) this.add([...path, ...violation.path], violation.message);
  }

  /** Tries a literal regular expression, or adds the reason why it cannot be used. */
  tryPattern(source: string, ignoreCase: boolean, path: readonly string[]): boolean {
    if (this.skipsPatterns) return true;
    const result = this.patternsLeft > 0 ? compilePattern(source, ignoreCase) : TOO_MANY_PATTERNS;
    if (result.ok) this.patternsLeft -= result.pattern.size;
    else this.add(path, `is not a usable pattern: ${result.message}`);
    return result.ok;
  }

  /**
   * Tries a JSON Schema, or adds the reason why it cannot be used. A schema that is too large is not
   * compiled.
   */
  trySchema(schema: unknown, path: readonly string[]): void {
    const parts = countSchemaParts(schema);
    this.schemaPartsLeft -= DEFINITION_LIMITS.jsonSchemaPartsEach + parts;
    this.patternsLeft -= estimateSchemaPatterns(schema);
    if (this.schemaPartsLeft < 0) {
      this.add(path, TOO_MANY_SCHEMAS);
    } else if (parts > jsonSchemaPartsEachMax) {
      this.add(path, TOO_LARGE_SCHEMA);
    } else if (this.patternsLeft < 0) {
      this.add(path, `cannot be used: ${TOO_MANY_PATTERNS.message}`);
    } else {
      const compiled = compileJsonSchema(schema);
      if (!compiled.ok) this.addAll(path, compiled.violations);
    }
  }

  /** The paths that an expression reads. Undefined for an invalid expression, whose problem is added. */
  tryExpression(
    expression: string,
    path: readonly string[],
  ): readonly ExpressionPath[] | undefined {
    this.expressionCharsLeft -= expression.length;
    if (this.expressionCharsLeft < 0) {
      this.add(path, TOO_MUCH_JSONATA);
      return undefined;
    }
    const parsed = this.expressions.get(expression);
    if (parsed?.ok === false) this.add(path, parsed.message);
    return parsed?.ok === true ? parsed.paths : undefined;
  }

  /**
   * Parses a value, or adds its problems and returns undefined. Each path is reported once, with its most
   * basic problem.
   */
  parse<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T | undefined {
    const oversized = findOversized(schema, value);
    if (oversized !== null) {
      const place = [...path, ...oversized];
      this.add(place, `must have at most ${ENTRIES_MAX} entries`);
      this.misshapen.add(JSON.stringify(place));
      return undefined;
    }
    const result = schema.safeParse(value, { error: boundedMessages() });
    if (result.success) return result.data;
    for (const violation of violationsOf(firstIssues(result.error))) {
      const place = [...path, ...violation.path];
      this.add(place, violation.message);
      this.misshapen.add(JSON.stringify(place));
    }
    return undefined;
  }
}

const { patternSizeSumMax, expressionCharsSumMax } = DEFINITION_LIMITS;
const { jsonSchemaPartsEachMax, jsonSchemaPartsSumMax } = DEFINITION_LIMITS;

const TOO_MANY_PATTERNS = {
  ok: false,
  message: `the patterns are too large together (at most ${patternSizeSumMax} parts in a definition); use fewer or simpler ones`,
} as const;

const TOO_MANY_SCHEMAS = `cannot be used: the JSON Schemas of a definition have at most ${jsonSchemaPartsSumMax} objects, arrays and booleans together`;

const TOO_LARGE_SCHEMA = `cannot be used: a JSON Schema of a definition has at most ${jsonSchemaPartsEachMax} objects, arrays and booleans outside enum, const, default and examples`;

const TOO_MUCH_JSONATA = `the expressions of a definition have at most ${expressionCharsSumMax} characters together`;

function isSame(known: Violation, path: readonly string[], message: string): boolean {
  return (
    known.message === message &&
    known.path.length === path.length &&
    known.path.every((segment, index) => segment === path[index])
  );
}
