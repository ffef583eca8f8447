import type { ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { providerSettingName } from "@workflow/service";
import type { Logger } from "pino";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";

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

/** The operator has taken a setting away: passes as soon as it is back. */
export function settingMissing(providerName: string, setting: string): OperatorFaultError {
  return new OperatorFaultError(
    setting,
    `${providerName} is not set up here: ${setting} is not set.`,
  );
}

/** A refusal of our own application, as the operator's fault that it is; any other error as it was. */
export function judgeRefusal({ id, name }: ProviderManifest, error: unknown): unknown {
  if (!(error instanceof AuthorizationRefusedError) || !error.isApplicationRefused) return error;
  const setting = providerSettingName(id, "CLIENT_SECRET");
  const text = `${name} cannot be asked at the moment: it refuses the application that is set up here (${error.code}).`;
  return new OperatorFaultError(setting, text, { cause: error });
}

/**
 * Tells the operator of such faults, once for each until it has passed. Who is asked is named by the provider's
 * id, or by what the broker calls the provider.
 */
export interface OperatorFaults {
  /** Errors of other kinds are passed over. */
  note(error: unknown, asked: string): void;
  /** The provider has given tokens, or the broker an account. */
  passed(asked: string): void;
}

/** Remembers, in this process, what the operator has been told. */
export function createOperatorFaults(logger: Logger): OperatorFaults {
  const told = new Map<string, Set<string>>();
  return {
    note(error, asked) {
      if (!(error instanceof OperatorFaultError)) return;
      const { setting } = error;
      const known = told.get(asked) ?? new Set();
      if (known.has(setting)) return;
      told.set(asked, known.add(setting));
      logger.error(
        { err: error, provider: asked, setting },
        "accounts cannot be connected or renewed until a setting is mended; their status stays",
      );
    },
    passed(asked) {
      told.delete(asked);
    },
  };
}
