import type { z } from "zod";
import type { Environment } from "./config.ts";
import { keysOf } from "./keys-of.ts";
import { PROVIDER_IDS, PROVIDER_SETTINGS, providerSettingName } from "./provider-settings.ts";
import { SHARED_SETTINGS } from "./settings.ts";

/** The feature that is missing for a setting to have an effect; undefined for a setting that code reads. */
export function withoutEffect(setting: z.ZodType): string | undefined {
  return textOrUndefined(setting.meta()?.["withoutEffect"]);
}

/** The missing feature for a setting of providers; undefined for a setting that code reads. */
export function withoutEffectOfProviders(key: keyof typeof PROVIDER_SETTINGS): string | undefined {
  return textOrUndefined(Reflect.get(PROVIDER_SETTINGS[key], "withoutEffect"));
}

/**
 * A line for each given setting without an effect, so that nobody relies on the setting:
 * "RATE_LIMIT_READ is set, but this version does not limit rates yet."
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
  // A name in both lists is that of the shared setting. A service's own setting always has an effect.
  for (const name of keysOf(SHARED_SETTINGS)) {
    byName.set(name, withoutEffect(SHARED_SETTINGS[name]));
  }
  return byName;
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
