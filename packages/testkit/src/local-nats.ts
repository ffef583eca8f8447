import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { hasDocker } from "./docker.ts";
import { freePort } from "./free-port.ts";
import { waitFor } from "./wait-for.ts";

export interface LocalNats {
  /** `nats://127.0.0.1:<port>` */
  url: string;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;

/**
 * A NATS server with JetStream: `NATS_URL` when set (a server shared with others, then), else
 * `nats-server` from the PATH, else Docker.
 *
 * @throws Error when there is none of the three
 */
export async function startLocalNats(): Promise<LocalNats> {
  const given = process.env["NATS_URL"];
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} };
  const program = findOnPath("nats-server");
  if (program !== null) return startProgram(program);
  if (await hasDocker()) return startInDocker();
  throw new Error(
    "This test needs NATS: set NATS_URL, install nats-server (Debian: apt-get install " +
      "nats-server), or start Docker.",
  );
}

async function startProgram(program: string): Promise<LocalNats> {
  for (let attempt = 1; ; attempt += 1) {
    const folder = await mkdtemp(join(tmpdir(), "workflow-test-nats-"));
    const port = await freePort();
    const args = ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port)];
    const child = spawn(program, args, { stdio: "ignore" });
    const exited = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    const stop = async (): Promise<void> => {
      process.removeListener("exit", kill);
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    };
    const kill = (): void => void child.kill("SIGKILL");
    process.once("exit", kill);
    if (await isListening(child, port)) return { url: `nats://127.0.0.1:${port}`, stop };
    await stop();
    // Somebody else may have taken the port in between; anything else fails again.
    if (attempt === START_ATTEMPTS) throw new Error(`${program} did not start.`);
  }
}

async function isListening(child: ChildProcess, port: number): Promise<boolean> {
  return waitFor(
    async () => {
      if (child.exitCode !== null || child.pid === undefined) return { listening: false };
      return (await accepts(port)) ? { listening: true } : null;
    },
    { what: "nats-server to listen" },
  ).then(({ listening }) => listening);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function startInDocker(): Promise<LocalNats> {
  const { GenericContainer } = await import("testcontainers");
  const container = await new GenericContainer("nats:2.10-alpine")
    .withCommand(["-js"])
    .withExposedPorts(4222)
    .start();
  return {
    url: `nats://${container.getHost()}:${container.getMappedPort(4222)}`,
    stop: async () => {
      await container.stop();
    },
  };
}

function findOnPath(program: string): string | null {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && existsSync(join(folder, program))) return join(folder, program);
  }
  return null;
}
