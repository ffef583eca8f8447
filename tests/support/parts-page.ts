import { PARTS } from "../../deploy/dev/src/topology.ts";
import type { Part } from "../../deploy/dev/src/topology.ts";

/** The lists of docs/ops/separate.md, each below its heading. */
export const PARTS_LISTS: Readonly<Record<string, () => string>> = {
  Parts: partsTable,
  "Who calls whom": edgesTable,
  "Settings of each part": settingsTable,
};

function partsTable(): string {
  return table(
    [
      "part",
      "program",
      "listens at",
      "database role",
      "NATS user",
      "key",
      "tokens of",
      "sessions",
      "stops within",
    ],
    PARTS.map((part) => [
      `${part.name}${fixed(part)}`,
      code(part.main),
      part.listens
        .map(({ setting, protocol, port }) => `${code(setting)} (${protocol}, ${port})`)
        .join(", "),
      code(part.databaseRole),
      code(part.natsUser),
      part.signsAs ?? "",
      part.accepts.join(", "),
      sessions(part),
      `${part.stopSecondsMax} s`,
    ]),
  );
}

function edgesTable(): string {
  return table(
    ["caller", "callee", "setting", "speaks"],
    PARTS.flatMap((part) =>
      part.calls.map(({ to, setting, protocol }) => [part.name, to, code(setting), protocol]),
    ),
  );
}

function settingsTable(): string {
  return table(
    ["part", "settings"],
    PARTS.map((part) => [
      part.name,
      [
        ...part.settings.map((name) =>
          part.required.includes(name) ? `**${code(name)}**` : code(name),
        ),
        ...(part.readsProviders ? ["`<PROVIDER>_…`"] : []),
      ].join(", "),
    ]),
  );
}

function fixed({ fixed: settings }: Part): string {
  const texts = Object.entries(settings).map(([name, value]) => `\`${name}=${value}\``);
  return texts.length === 0 ? "" : `, with ${texts.join(", ")}`;
}

function sessions({ databaseSessions: { pools, besides } }: Part): string {
  const pool = pools === 1 ? "`DATABASE_POOL_SIZE`" : `${pools} × \`DATABASE_POOL_SIZE\``;
  return besides === 0 ? pool : `${pool} + ${besides}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}
