import pino from "pino";
import { createRpcClient, createRpcServer } from "../src/index.ts";
import { alice, echo, EchoService, minter, verifier } from "../tests/support.ts";

/**
 * Measures the trivial calls a second of one client over one connection to a server in the same process:
 * `node packages/rpc/bench/unary.ts [calls in flight]`.
 */
const CONCURRENCY = Number(process.argv[2] ?? 64);
const DURATION_MS = 5_000;

const server = createRpcServer({
  logger: pino({ level: "info" }),
  verifier,
});
server.add(EchoService, echo);
const { address } = await server.listen("127.0.0.1:0");
const client = createRpcClient(EchoService, { address, minter });

let calls = 0;
async function callUntil(end: number): Promise<void> {
  while (performance.now() < end) {
    await client.say({ text: "hello" }, { identity: alice, requestId: "bench" });
    calls += 1;
  }
}

async function measure(durationMs: number): Promise<{ perSecond: number; cpuMicros: number }> {
  calls = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, () => callUntil(startedAt + durationMs)));
  const cpu = process.cpuUsage(cpuBefore);
  return {
    perSecond: Math.round(calls / ((performance.now() - startedAt) / 1000)),
    cpuMicros: Math.round((cpu.user + cpu.system) / calls),
  };
}

await measure(1_000);
const { perSecond, cpuMicros } = await measure(DURATION_MS);
process.stdout.write(
  `${perSecond} calls/s, ${cpuMicros} µs of CPU a call for both ends, ${CONCURRENCY} in flight\n`,
);
client.close();
await server.close();
