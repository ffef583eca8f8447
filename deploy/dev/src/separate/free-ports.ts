import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { StartError } from "../start-error.ts";

/**
 * Below the ports that Linux gives to outgoing connections: a process that is started again has to find
 * its own port free.
 */
const FROM = 10_000;
const TO = 32_000;
const TRIES = 1_000;

/**
 * Ports of 127.0.0.1 on which nobody listens now, each another one.
 *
 * @throws StartError when hardly any is free
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < TRIES; tries += 1) {
    const port = randomInt(FROM, TO);
    if (await isFree(port)) ports.add(port);
  }
  if (ports.size < count) throw new StartError(`No ${count} free ports from ${FROM} to ${TO}.`);
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once("error", () => resolve(false));
  server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
    server.close(() => resolve(true));
  });
  return promise;
}
