import type { Violation } from "@workflow/errors";
import type { z } from "zod";
import { issueMessage, violationsOf } from "./zod-messages.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { compilePattern } from "./pattern.ts";

/** Collects violations of one definition, each once, up to the cap, and bounds what checks cost. */
export class Problems {
  private readonly found: Violation[] = [];
  /** Places, as JSON, of values whose shape is wrong already. */
  private readonly misshapen = new Set<string>();
  private patternInstructionsLeft: number = DEFINITION_LIMITS.patternInstructionsMax;
  private readonly mayBeUnfinished: boolean;

  /** @param options.mayBeUnfinished whether it is no problem that a step holds nothing yet */
  constructor({ mayBeUnfinished = false }: { mayBeUnfinished?: boolean } = {}) {
    this.mayBeUnfinished = mayBeUnfinished;
  }

  get violations(): Violation[] {
    return [...this.found];
  }

  /** No more will be kept; a walk may stop. */
  get isFull(): boolean {
    return this.found.length >= DEFINITION_LIMITS.violationsMax;
  }

  /** Of a value whose shape is wrong, nothing else is told: the rest follows from that. */
  add(path: readonly string[], message: string): void {
    if (this.isFull || this.misshapen.has(JSON.stringify(path))) return;
    if (this.found.some((known) => isSame(known, path, message))) return;
    this.found.push({ path: [...path], message });
  }

  /** Adds that a step holds nothing that it could run; in a draft that is no problem. */
  addUnfinished(path: readonly string[], message: string): void {
    if (!this.mayBeUnfinished) this.add(path, message);
  }

  addAll(path: readonly string[], violations: readonly Violation[]): void {
    for (const violation of violations) this.add([...path, ...violation.path], violation.message);
  }

  /** Tries a regular expression that is written out, or adds why it can't be used. */
  tryPattern(source: string, ignoreCase: boolean, path: readonly string[]): boolean {
    const result =
      this.patternInstructionsLeft > 0 ? compilePattern(source, ignoreCase) : TOO_MANY_PATTERNS;
    if (result.ok) this.patternInstructionsLeft -= result.pattern.instructions;
    else this.add(path, `is not a usable pattern: ${result.message}`);
    return result.ok;
  }

  /**
   * Parses a value, or adds what is wrong with it and answers undefined. One place is told once, with
   * the most basic of its problems.
   */
  parse<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T | undefined {
    const result = schema.safeParse(value, { error: issueMessage });
    if (result.success) return result.data;
    for (const violation of violationsOf(result.error)) {
      const place = [...path, ...violation.path];
      this.add(place, violation.message);
      this.misshapen.add(JSON.stringify(place));
    }
    return undefined;
  }
}

const TOO_MANY_PATTERNS = {
  ok: false,
  message: "the patterns are too large together; use fewer or simpler ones",
} as const;

function isSame(known: Violation, path: readonly string[], message: string): boolean {
  return (
    known.message === message &&
    known.path.length === path.length &&
    known.path.every((segment, index) => segment === path[index])
  );
}
