import pino from "pino";
import { createRpcClient, createRpcServer } from "../src/index.ts";
import { alice, echo, EchoService, minter, verifier } from "../tests/support.ts";

/**
 * How many trivial calls a second a client makes over one connection to a server in the same process: one whose
 * calls may go anywhere, and one whose calls are about something (ADR 75), in turn.
 * `node packages/rpc/bench/unary.ts [calls in flight]`.
 */
const CONCURRENCY = Number(process.argv[2] ?? 64);
const ROUNDS = 9;
const ROUND_MS = 1_000;

const server = createRpcServer({
  logger: pino({ level: "info" }),
  verifier,
});
server.add(EchoService, echo);
const { address } = await server.listen("127.0.0.1:0");
const plain = createRpcClient(EchoService, { address, minter });
const affine = createRpcClient(EchoService, {
  address,
  minter,
  affinity: { say: ({ text }) => text },
});

interface Round {
  perSecond: number;
  cpuMicros: number;
}

async function measure(client: typeof plain, durationMs: number): Promise<Round> {
  let calls = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const end = startedAt + durationMs;
  const call = async (): Promise<void> => {
    while (performance.now() < end) {
      await client.say({ text: "hello" }, { identity: alice, requestId: "bench" });
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, call));
  const cpu = process.cpuUsage(cpuBefore);
  return {
    perSecond: calls / ((performance.now() - startedAt) / 1000),
    cpuMicros: (cpu.user + cpu.system) / calls,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await measure(plain, ROUND_MS);
await measure(affine, ROUND_MS);
const rounds: { plain: Round; affine: Round }[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  rounds.push({ plain: await measure(plain, ROUND_MS), affine: await measure(affine, ROUND_MS) });
}
for (const name of ["plain", "affine"] as const) {
  const perSecond = Math.round(median(rounds.map((round) => round[name].perSecond)));
  const cpuMicros = Math.round(median(rounds.map((round) => round[name].cpuMicros)));
  const each = `${perSecond} calls/s, ${cpuMicros} µs of CPU a call for both ends`;
  process.stdout.write(`${name}: ${each}, ${CONCURRENCY} in flight\n`);
}
const ratio = median(rounds.map((round) => round.affine.cpuMicros / round.plain.cpuMicros));
process.stdout.write(`CPU of an affine call: ${ratio.toFixed(3)} times that of a plain one\n`);
plain.close();
affine.close();
await server.close();
