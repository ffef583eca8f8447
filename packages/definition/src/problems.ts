import type { Violation } from "@workflow/errors";
import type { z } from "zod";
import { issueMessage, violationsOf } from "./zod-messages.ts";
import { DEFINITION_LIMITS } from "./limits.ts";

/** Collects violations of one definition, each once, up to the cap. */
export class Problems {
  private readonly found: Violation[] = [];

  get violations(): Violation[] {
    return [...this.found];
  }

  /** No more will be kept; a walk may stop. */
  get isFull(): boolean {
    return this.found.length >= DEFINITION_LIMITS.violationsMax;
  }

  add(path: readonly string[], message: string): void {
    if (this.isFull || this.found.some((known) => isSame(known, path, message))) return;
    this.found.push({ path: [...path], message });
  }

  addAll(path: readonly string[], violations: readonly Violation[]): void {
    for (const violation of violations) this.add([...path, ...violation.path], violation.message);
  }

  /** Parses a value, or adds what is wrong with it and answers undefined. */
  parse<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T | undefined {
    const result = schema.safeParse(value, { error: issueMessage });
    if (result.success) return result.data;
    this.addAll(path, violationsOf(result.error));
    return undefined;
  }
}

function isSame(known: Violation, path: readonly string[], message: string): boolean {
  return (
    known.message === message &&
    known.path.length === path.length &&
    known.path.every((segment, index) => segment === path[index])
  );
}
