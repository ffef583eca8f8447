import { createServer } from "node:net";

/** The wanted port when it is free, otherwise one that the system picks. */
export async function findPort(wanted: number | null): Promise<number> {
  const port = (wanted === null ? null : await tryPort(wanted)) ?? (await tryPort(0));
  if (port === null) throw new Error("No free port on 127.0.0.1.");
  return port;
}

/** Whether a server could listen on this port of 127.0.0.1. */
export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== null;
}

/** Listens for a moment. Returns the port, or null when that fails. */
function tryPort(port: number): Promise<number | null> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<number | null>();
  server.once("error", () => resolve(null));
  server.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : null));
  });
  return promise;
}
