import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNatsServer, freePort } from "@workflow/testkit";

/** A NATS server of the test's own that can be killed and started again on its data. */
export interface RestartableNats {
  url: string;
  start(): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** Deletes what it has stored; to be called while it is killed. */
  loseStore(): Promise<void>;
  /** Kills it and deletes its data. */
  remove(): Promise<void>;
}

export async function createRestartableNats(): Promise<RestartableNats> {
  const program = await findNatsServer();
  const folder = await mkdtemp(join(tmpdir(), "workflow-events-nats-"));
  const port = await freePort();
  const config = join(folder, "nats.conf");
  await writeFile(
    config,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(folder)} }\n`,
  );
  let child: ChildProcess | null = null;
  const killAtExit = (): void => void child?.kill("SIGKILL");
  process.once("exit", killAtExit);
  const kill = async (): Promise<void> => {
    if (child === null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    child = null;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    start() {
      child = spawn(program, ["-c", config], { stdio: "ignore" });
    },
    kill,
    async loseStore() {
      await rm(join(folder, "jetstream"), { recursive: true });
    },
    async remove() {
      process.removeListener("exit", killAtExit);
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
