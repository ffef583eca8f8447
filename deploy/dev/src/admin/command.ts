import type { AdminSettings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

/** A flag that takes a value. */
export interface Flag {
  /** Stands for the value in the usage text, such as `ID`. */
  placeholder: string;
  /** What is taken when the flag is missing; without one the flag is required. */
  default?: string;
  /** Not for the command line, which others can see: it can be read from stdin as well. */
  isSecret?: boolean;
}

/** A new password, for commands that set one. */
export const PASSWORD_FLAG: Flag = { placeholder: "PASSWORD", isSecret: true };

/** What a command did: for programs, and for people. */
export interface CommandResult {
  json: Readonly<Record<string, unknown>>;
  text: string;
  /** What whoever runs it should know; goes to stderr. */
  warnings?: readonly string[];
  /** What the command looked for is not as it should be: the exit code tells. */
  failed?: boolean;
}

/** One admin command; `run` gets a value for each of its flags. */
export interface Command {
  summary: string;
  flags: Readonly<Record<string, Flag>>;
  run(settings: AdminSettings, values: FlagValues): Promise<CommandResult>;
}

/** The flags as given, defaults filled in. */
export class FlagValues {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** The text of a flag that the command declares. */
  text(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) throw new UsageError(`--${name} is required`);
    return value;
  }

  /** These, and one more. */
  with(name: string, value: string): FlagValues {
    return new FlagValues(new Map([...this.#values, [name, value]]));
  }

  /** A whole number within bounds, both included. */
  wholeNumber(name: string, min: number, max: number): number {
    const text = this.text(name);
    const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`);
  }

  /** One of a few words. */
  oneOf<const Word extends string>(name: string, words: readonly Word[]): Word {
    const text = this.text(name);
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new UsageError(`--${name} must be one of ${words.join(", ")}`);
    return word;
  }

  /** Words out of a few, separated by commas, without repetition. */
  listOf<const Word extends string>(name: string, words: readonly Word[]): Word[] {
    const given = this.text(name)
      .split(",")
      .map((item) => item.trim());
    const known = words.filter((word) => given.includes(word));
    const unknown = given.filter((item) => !words.some((word) => word === item));
    if (unknown.length === 0) return known;
    const names = unknown.map((item) => JSON.stringify(item)).join(", ");
    throw new UsageError(`--${name}: ${names} is unknown; possible are ${words.join(",")}`);
  }
}
