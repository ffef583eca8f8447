import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gunzipSync } from "node:zlib";
import { connect } from "nats";
import { Client } from "pg";
import type { Evidence } from "./evidence.ts";
import type { Installation } from "./installation.ts";

/** What a running system shows beside its answers: events, rows, metrics and command lines. */
export async function lookIntoRunning(
  evidence: Evidence,
  installation: Installation,
): Promise<void> {
  await readEvents(evidence, installation.natsUrl);
  await readDatabase(evidence, await installation.databaseUrl());
  const port = installation.settings["METRICS_PORT"];
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
  evidence.add("metrics", "all", await metrics.text());
  await readCommandLines(evidence);
}

/** What a stopped system leaves on disk. */
export async function lookIntoFiles(evidence: Evidence, installation: Installation): Promise<void> {
  const { dataDir, natsFolder } = installation;
  for (const path of await filesBelow(dataDir)) {
    const name = relative(dataDir, path);
    evidence.add(name.startsWith("logs/") ? "log" : "data folder", name, await readFile(path));
  }
  for (const path of await filesBelow(join(natsFolder, "store"))) {
    evidence.add("files of NATS", relative(natsFolder, path), await readFile(path));
  }
}

/** What was sent to the doubles, and what a collector of traces was told. */
export function lookOutside(
  evidence: Evidence,
  { world, models, oauth, broker, mail }: Installation,
): void {
  const servers = [...oauth.values(), broker].flatMap(({ requests }) => requests);
  for (const request of [...world.requests, ...models.requests(), ...servers]) {
    const { path, headers, body } = request;
    const content = `${path}\n${JSON.stringify(headers)}\n${body}`;
    // The header there is the operator's own credential.
    if (path.startsWith("/traces")) evidence.add("traces", path, body);
    else evidence.addSent(path, content);
  }
  for (const { to, raw } of mail.messages) evidence.addSent(`mail to ${to.join()}`, raw);
}

/** Every message that any stream has, subject, headers and unpacked body. */
async function readEvents(evidence: Evidence, url: string): Promise<void> {
  const { username, password, host } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: password });
  try {
    const manager = await connection.jetstreamManager();
    for await (const { config, state } of manager.streams.list()) {
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
        const { subject, data, header } = await manager.streams.getMessage(config.name, { seq });
        const isPacked = header.get("Content-Encoding") === "gzip";
        const head = [...header].map(([name, values]) => `${name}: ${values.join()}`).join("\n");
        const body = isPacked ? gunzipSync(data) : data;
        evidence.add("events", `${subject} ${seq}`, Buffer.concat([Buffer.from(head), body]));
      }
    }
  } finally {
    await connection.close();
  }
}

/** Every row of every table as text, bytes as hexadecimal digits, and the statements under way. */
async function readDatabase(evidence: Evidence, connectionString: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name
      from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')
      union all values ('pg_catalog.pg_stat_activity')
    `);
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(
        `select row::text as "text" from ${name} as row`,
      );
      evidence.add("database", name, rows.map(({ text }) => text).join("\n"));
    }
  } finally {
    await client.end();
  }
}

/** Of all processes of this machine, as others see them. */
async function readCommandLines(evidence: Evidence): Promise<void> {
  const lines: string[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    lines.push(await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => ""));
  }
  evidence.add("command lines", "all", lines.join("\n").replaceAll("\0", " "));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((each) => join(each.parentPath, each.name));
}
