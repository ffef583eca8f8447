import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

/** A CRM that keeps contacts by e-mail address, on a free loopback port. */
export interface CrmServer {
  url: string;
  close(): void;
}

/** Starts the server; it stands for your CRM, and answers only who shows its key. */
export async function startCrmServer(key: string): Promise<CrmServer> {
  const contacts = new Map<string, unknown>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://crm");
    if (request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401).end();
    } else if (request.method !== "PUT" || pathname !== "/contacts/by-email") {
      response.writeHead(404).end();
    } else {
      const email = searchParams.get("email") ?? "";
      const isNew = !contacts.has(email);
      contacts.set(email, await json(request));
      response.writeHead(isNew ? 201 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ contact: contacts.get(email), isNew }));
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
