import { createServer } from "node:net";

/**
 * A port of 127.0.0.1 on which nobody listens now. Prefer port 0 where a server can tell its port:
 * somebody else may take this one first.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => {
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("The server has no port."));
    });
  });
  return promise;
}
