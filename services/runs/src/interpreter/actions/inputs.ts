import { StepError } from "../../domain/step-error.ts";

/**
 * The longest text that an action takes. It is as long as templates can build (D19), so the work is
 * bounded.
 */
const TEXT_CHARS_MAX = 1024 * 1024;

/**
 * Reads the resolved inputs of an action one by one. Every failure is a StepError that names the input.
 * It is not retried, since the same inputs would fail again.
 */
export class ActionInputs {
  readonly #inputs: object;

  constructor(inputs: unknown) {
    this.#inputs = typeof inputs === "object" && inputs !== null ? inputs : {};
  }

  /** Any value; undefined when the input was not given. */
  value(key: string): unknown {
    const entry: unknown = Object.getOwnPropertyDescriptor(this.#inputs, key)?.value;
    return entry;
  }

  /**
   * Whether the input was given. A template whose path does not exist gives null, which counts as not
   * given.
   */
  has(key: string): boolean {
    return (this.value(key) ?? null) !== null;
  }

  text(key: string): string {
    const value = this.value(key);
    if (typeof value !== "string") throw invalidInput(key, `must be a text, not ${kindOf(value)}`);
    if (value.length > TEXT_CHARS_MAX) throw invalidInput(key, "is longer than 1 MiB");
    return value;
  }

  number(key: string): number {
    const value = this.value(key);
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw invalidInput(key, `must be a number, not ${kindOf(value)}`);
  }

  oneOf<const Word extends string>(key: string, words: readonly Word[]): Word {
    const value = this.value(key);
    const word = words.find((each) => each === value);
    if (word === undefined) throw invalidInput(key, `must be one of ${words.join(", ")}`);
    return word;
  }
}

/** The failure of an action whose input is at fault; `what` completes "<key> …". */
export function invalidInput(key: string, what: string): StepError {
  return new StepError("INVALID_INPUT", `${key} ${what}.`, { retryable: false });
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
