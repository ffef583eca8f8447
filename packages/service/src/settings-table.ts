import { keysOf } from "./keys-of.ts";
import { PROVIDER_SETTINGS } from "./provider-settings.ts";
import { SETTINGS } from "./settings.ts";
import { withoutEffect, withoutEffectOfProviders } from "./settings-without-effect.ts";

/** The catalogue as a Markdown table, for docs/ops/settings.md. */
export function settingsTable(): string {
  const rows = keysOf(SETTINGS).map((name) => {
    const { description = "" } = SETTINGS[name];
    const value = showDefault(SETTINGS[name].safeParse(undefined).data);
    return row(`\`${name}\``, value, description + note(withoutEffect(name)));
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
