import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A database at an address of this machine that users reach who may not enter its socket's folder. */
export interface ReachableDatabase {
  connectionUri: string;
  close(): void;
}

/** Hands connections on to the database of a connection URI, byte by byte. */
export async function makeReachable(connectionUri: string): Promise<ReachableDatabase> {
  const uri = new URL(connectionUri);
  const host = decodeURIComponent(uri.hostname);
  const port = uri.port === "" ? 5432 : Number(uri.port);
  const target = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const server = createServer((client) => {
    const database = connect(target);
    client.pipe(database).pipe(client);
    client.on("error", () => database.destroy());
    database.on("error", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  uri.hostname = "127.0.0.1";
  uri.port = String(isAddressInfo(address) ? address.port : "");
  return { connectionUri: uri.href, close: () => server.close() };
}

function isAddressInfo(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
