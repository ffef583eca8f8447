import { realpath } from "node:fs/promises";
import { clusterFolder, connectionUri, readAccess } from "./cluster.ts";
import { accepts } from "./connect.ts";
import { statIfExists } from "./files.ts";
import { findPostmaster } from "./leftover.ts";

/**
 * The running server of a data folder.
 *
 * @param dataDir the folder given to `startLocalPostgres`
 * @returns the superuser's address, or null when no server runs or it does not accept connections
 */
export async function findLocalPostgres(
  dataDir: string,
): Promise<{ connectionUri: string } | null> {
  if ((await statIfExists(clusterFolder(dataDir))) === null) return null;
  const clusterDir = await realpath(clusterFolder(dataDir));
  if ((await findPostmaster(clusterDir)) === null) return null;
  const access = await readAccess(dataDir);
  if (access === null || access.port === null) return null;
  const uri = connectionUri(access, access.port);
  return (await accepts(uri)) ? { connectionUri: uri } : null;
}
