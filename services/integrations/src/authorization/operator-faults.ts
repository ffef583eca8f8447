import { AppError } from "@workflow/errors";
import type { Logger } from "pino";

/**
 * The installation's own settings keep it from asking a provider or the broker. No company is to blame:
 * it counts like an answer that does not come, until the operator has mended it.
 */
export class OperatorFaultError extends AppError {
  /** What the operator has to look at: `STRIPE_CLIENT_SECRET`. Never its value. */
  readonly setting: string;

  /** @param message public: names no value of a setting */
  constructor(setting: string, message: string, options: { cause?: unknown } = {}) {
    super("UPSTREAM_ERROR", message, options);
    this.setting = setting;
  }
}

/** Tells the operator of such faults, once for each until it has passed. */
export interface OperatorFaults {
  note(error: unknown, providerId: string): void;
  /** The provider or broker has answered for a provider. */
  passed(providerId: string): void;
}

/** Remembers, in this process, what the operator has been told. */
export function createOperatorFaults(logger: Logger): OperatorFaults {
  const told = new Map<string, Set<string>>();
  return {
    note(error, provider) {
      if (!(error instanceof OperatorFaultError)) return;
      const { setting } = error;
      const known = told.get(provider) ?? new Set();
      if (known.has(setting)) return;
      told.set(provider, known.add(setting));
      logger.error(
        { err: error, provider, setting },
        "accounts cannot be renewed until a setting is mended; their status stays",
      );
    },
    passed(provider) {
      told.delete(provider);
    },
  };
}
