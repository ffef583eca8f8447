import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNatsServer, freePort, waitFor } from "@workflow/testkit";

/** A NATS server of one test, which can die and come back with its store. */
export interface KillableNats {
  /** The URL, `nats://127.0.0.1:<port>`, the same after each start. */
  url: string;
  /** Ends the server by SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Starts the server again, with the same port and folder. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a NATS server with JetStream.
 * @throws Error when there is no nats-server program
 */
export async function startKillableNats(): Promise<KillableNats> {
  const program = await findNatsServer();
  const folder = await mkdtemp(join(tmpdir(), "killable-nats-"));
  const port = await freePort();
  const args = ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port)];
  let server: ChildProcess | undefined;

  async function kill(): Promise<void> {
    if (server === undefined) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    server = undefined;
    await exited;
  }

  async function start(): Promise<void> {
    const child = spawn(program, args, { stdio: "ignore" });
    const end = (): void => void child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    server = child;
    await once(child, "spawn");
    await waitFor(() => acceptsConnections(port), { what: "nats-server to listen" });
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a port of this machine accepts connections. */
export function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
