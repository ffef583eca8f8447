import { PROVIDER_SETTINGS } from "./provider-settings.ts";
import { SETTINGS } from "./settings.ts";

/** The catalogue as a Markdown table, for docs/ops/settings.md. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([name, schema]) =>
    row(`\`${name}\``, showDefault(schema.safeParse(undefined).data), schema.description ?? ""),
  );
  const providerRows = Object.entries(PROVIDER_SETTINGS).map(([key, { description }]) =>
    row(`\`<PROVIDER>_${key}\``, "", description),
  );
  const head = [row("Setting", "Default", "Meaning"), row("---", "---", "---")];
  return `${[...head, ...rows, ...providerRows].join("\n")}\n`;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function showDefault(value: unknown): string {
  if (value === undefined) return "";
  return `\`${Array.isArray(value) ? value.join(",") : JSON.stringify(value).replaceAll('"', "")}\``;
}
