import type { z } from "zod";
import { keysOf } from "./keys-of.ts";
import { PROVIDER_SETTINGS } from "./provider-settings.ts";
import { withoutEffect, withoutEffectOfProviders } from "./settings-without-effect.ts";

/**
 * A Markdown table of settings for docs/ops/settings.md, with those of providers last.
 *
 * @param catalogue the settings by name
 */
export function settingsTable(catalogue: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(catalogue).map(([name, setting]) => {
    const value = showDefault(setting.safeParse(undefined).data);
    return row(`\`${name}\``, value, (setting.description ?? "") + note(withoutEffect(setting)));
  });
  const providerRows = keysOf(PROVIDER_SETTINGS).map((key) => {
    const { description } = PROVIDER_SETTINGS[key];
    return row(`\`<PROVIDER>_${key}\``, "", description + note(withoutEffectOfProviders(key)));
  });
  const head = [row("Setting", "Default", "Meaning"), row("---", "---", "---")];
  return `${[...head, ...rows, ...providerRows].join("\n")}\n`;
}

function note(mark: string | undefined): string {
  return mark === undefined ? "" : ` **No effect yet:** this version ${mark}.`;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function showDefault(value: unknown): string {
  if (value === undefined) return "";
  return `\`${Array.isArray(value) ? value.join(",") : JSON.stringify(value).replaceAll('"', "")}\``;
}
