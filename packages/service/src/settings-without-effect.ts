import type { z } from "zod";
import type { Environment } from "./config.ts";
import { keysOf } from "./keys-of.ts";
import { PROVIDER_IDS, PROVIDER_SETTINGS, providerSettingName } from "./provider-settings.ts";
import { SHARED_SETTINGS } from "./settings.ts";

/**
 * What this version does not do, though a setting is meant for it; undefined for a setting that is
 * read.
 */
export function withoutEffect(setting: z.ZodType): string | undefined {
  return textOrUndefined(setting.meta()?.["withoutEffect"]);
}

/** The same for a setting that each provider has. */
export function withoutEffectOfProviders(key: keyof typeof PROVIDER_SETTINGS): string | undefined {
  return textOrUndefined(Reflect.get(PROVIDER_SETTINGS[key], "withoutEffect"));
}

/**
 * One line for each setting that is given but changes nothing in this version, so that nobody relies on
 * it: "RATE_LIMIT_READ is set, but this version does not limit rates yet."
 */
export function explainSettingsWithoutEffect(env: Environment): string[] {
  return [...marks()]
    .filter(([name, mark]) => mark !== undefined && (env[name] ?? "").trim() !== "")
    .map(([name, mark]) => `${name} is set, but this version ${mark}.`);
}

function marks(): Map<string, string | undefined> {
  const byName = new Map<string, string | undefined>();
  for (const id of PROVIDER_IDS) {
    for (const key of keysOf(PROVIDER_SETTINGS)) {
      byName.set(providerSettingName(id, key), withoutEffectOfProviders(key));
    }
  }
  // For a name that is in both, the shared setting counts. A setting of one service has an effect.
  for (const name of keysOf(SHARED_SETTINGS)) {
    byName.set(name, withoutEffect(SHARED_SETTINGS[name]));
  }
  return byName;
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
