import { createServer } from "node:http";
import { once } from "node:events";
import type { Scope } from "@workflow/service";
import type { WebhooksServiceOptions } from "../options.ts";

/** Takes inbound webhooks until the scope closes; returns where it listens. */
export async function startInbound(
  { httpAddress }: WebhooksServiceOptions,
  scope: Scope,
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
  });
  const [host, port] = splitAddress(httpAddress);
  server.listen(port, host);
  await once(server, "listening");
  scope.defer(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server has no port.");
  return `${host}:${bound.port}`;
}

function splitAddress(address: string): [string, number] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
}
