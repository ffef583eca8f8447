import type { ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { providerSettingName } from "@workflow/service";
import type { Logger } from "pino";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";

/**
 * A setting of the installation prevents questions to a provider or the broker. No company is to blame,
 * so the fault counts like a missing answer until the operator has fixed it.
 */
export class OperatorFaultError extends AppError {
  /** The setting to check, such as `STRIPE_CLIENT_SECRET`; never its value. */
  readonly setting: string;

  /** @param message a public text without the value of a setting */
  constructor(setting: string, message: string, options: { cause?: unknown } = {}) {
    super("UPSTREAM_ERROR", message, options);
    this.setting = setting;
  }
}

/** The operator has removed a setting. The fault ends as soon as the setting is back. */
export function settingMissing(providerName: string, setting: string): OperatorFaultError {
  return new OperatorFaultError(
    setting,
    `${providerName} is not set up here: ${setting} is not set.`,
  );
}

/** Turns a refusal of our own application into the operator's fault; other errors stay as they are. */
export function judgeRefusal({ id, name }: ProviderManifest, error: unknown): unknown {
  if (!(error instanceof AuthorizationRefusedError) || !error.isApplicationRefused) return error;
  const setting = providerSettingName(id, "CLIENT_SECRET");
  const text = `${name} cannot be asked at the moment: it refuses the application that is set up here (${error.code}).`;
  return new OperatorFaultError(setting, text, { cause: error });
}

/**
 * Logs such faults for the operator, each once until it has passed. The asked service is named by the
 * provider's id, or by the broker's name of the provider.
 */
export interface OperatorFaults {
  /** Logs a fault of the operator; other errors are ignored. */
  note(error: unknown, asked: string): void;
  /** Notes that the provider has given tokens, or the broker an account. */
  passed(asked: string): void;
}

/** A log that remembers, in this process, which faults it has logged. */
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
