import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { StartError } from "../start-error.ts";

/**
 * Below the ports that Linux gives to outgoing connections, so a restarted process finds its port free.
 */
const FROM = 10_000;
const TO = 32_000;
const TRIES = 1_000;

/**
 * Distinct ports of 127.0.0.1 on which nobody listens now.
 * @param kept ports that are reserved for later
 * @throws StartError when hardly any is free
 */
export async function freePorts(count: number, kept: readonly number[] = []): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < TRIES; tries += 1) {
    const port = randomInt(FROM, TO);
    if (!kept.includes(port) && (await isFree(port))) ports.add(port);
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
