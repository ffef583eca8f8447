import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { receivedDelivery } from "./delivery-log.ts";
import type { ReceivedDelivery, ReceiverStart } from "./delivery-log.ts";

/** A receiver of deliveries in a process of its own, which can be killed. */
export interface DeliveryReceiver {
  /** Where it listens, each time; without a slash at the end. */
  origin: string;
  /** Starts it, or starts it again. */
  start(secrets: ReceiverStart["secrets"]): Promise<void>;
  kill(): Promise<void>;
  /** Everything that has arrived so far, in order. */
  received(): Promise<ReceivedDelivery[]>;
  close(): Promise<void>;
}

const PROCESS = join(import.meta.dirname, "delivery-receiver-process.ts");
const ready = z.object({ port: z.number() });

/** Makes a receiver; it listens from `start` on. */
export async function createDeliveryReceiver(port: number): Promise<DeliveryReceiver> {
  const folder = await mkdtemp(join(tmpdir(), "deliveries-"));
  const file = join(folder, "received");
  let child: ChildProcess | undefined;

  async function kill(): Promise<void> {
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    child = undefined;
    await exited;
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    async start(secrets) {
      child = fork(PROCESS, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      const answered = once(child, "message");
      child.send({ port, file, secrets } satisfies ReceiverStart);
      const [message] = await answered;
      ready.parse(message);
    },
    kill,
    async received() {
      const text = await readFile(file, "utf8");
      // The last line may be half written.
      const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
      return lines.slice(0, -1).map((line) => receivedDelivery.parse(JSON.parse(line)));
    },
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
