import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the ports that systems assign to outgoing connections and to servers on port 0 (32,768 and more
 * on Linux). Another program could take such a port between the check and the use.
 */
const FROM = 10_000;
const TO = 32_000;
const TRIES = 50;
const given = new Set<number>();

/**
 * A free port of 127.0.0.1 that this process has not returned before. Prefer port 0 when a server
 * reports its port.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(FROM, TO);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port was found in ${TRIES} tries`);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once("error", () => resolve(false));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return promise;
}
