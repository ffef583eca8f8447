import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@workflow/async";
import { startLocalPostgres } from "@workflow/local-postgres";
import { POSTGRES } from "./cuts.ts";
import type { Network } from "./network.ts";

const SESSIONS_MAX = "300";

/** Starts Postgres at its own address in a network; the superuser's address of it. The scope ends the server. */
export async function startPostgres(
  folder: string,
  network: Network,
  scope: Scope,
): Promise<string> {
  const hbaFile = join(tmpdir(), `partitions-${process.pid}-hba.conf`);
  scope.defer(() => rm(hbaFile, { force: true }));
  const address = network.addressOf(POSTGRES);
  const rules = ["local all all scram-sha-256", "host all all 10.77.0.0/24 scram-sha-256", ""];
  await writeFile(hbaFile, rules.join("\n"), { mode: 0o644 });
  const postgres = await startLocalPostgres({
    dataDir: folder,
    durable: false,
    settings: { hba_file: hbaFile, max_connections: SESSIONS_MAX },
    listenAddress: address,
    launcher: network.launcherOf(POSTGRES),
  });
  scope.defer(() => postgres.stop());
  const url = new URL(postgres.connectionUri);
  url.hostname = address;
  return url.toString();
}
