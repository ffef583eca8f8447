import type { AdminSettings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

/** A flag that takes a value. */
export interface Flag {
  /** The word for the value in the usage text, such as `ID`. */
  placeholder: string;
  /** The value of a missing flag. A flag without default is required. */
  default?: string;
  /** Other users of the machine can see the command line, so a secret may also come from stdin. */
  isSecret?: boolean;
}

/** A new password, for commands that set one. */
export const PASSWORD_FLAG: Flag = { placeholder: "PASSWORD", isSecret: true };

/** The result of a command, for programs and for people. */
export interface CommandResult {
  json: Readonly<Record<string, unknown>>;
  text: string;
  /** Remarks for the operator; they go to stderr. */
  warnings?: readonly string[];
  /** True when a check has failed. The exit code is then 1. */
  failed?: boolean;
}

/** An admin command. `run` gets a value for each of its flags. */
export interface Command {
  summary: string;
  flags: Readonly<Record<string, Flag>>;
  run(settings: AdminSettings, values: FlagValues): Promise<CommandResult>;
}

/** The values of flags, defaults included. */
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

  /** The same values and one more. */
  with(name: string, value: string): FlagValues {
    return new FlagValues(new Map([...this.#values, [name, value]]));
  }

  /** Reads a whole number within bounds, both included. */
  wholeNumber(name: string, min: number, max: number): number {
    const text = this.text(name);
    const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`);
  }

  /** Reads one of a few words. */
  oneOf<const Word extends string>(name: string, words: readonly Word[]): Word {
    const text = this.text(name);
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new UsageError(`--${name} must be one of ${words.join(", ")}`);
    return word;
  }

  /** Reads a list of words, separated by commas, without repetition. */
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
