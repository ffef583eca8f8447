import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const PRICE_LIST = new URL("data/price-list.json", import.meta.url);

/** A server of the price list on a free loopback port. */
export interface PriceListServer {
  url: string;
  close(): void;
}

/** Starts the server; it stands for a supplier's one. */
export async function startPriceListServer(): Promise<PriceListServer> {
  const body = await readFile(PRICE_LIST);
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/price-list.json`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
