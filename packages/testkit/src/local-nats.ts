import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { isNativeError } from "node:util/types";
import { hasDocker } from "./docker.ts";
import { freePort } from "./free-port.ts";
import { natsServerFromPackage } from "./nats-package.ts";
import type { NatsPackageOptions } from "./nats-package.ts";
import { waitFor } from "./wait-for.ts";

export interface LocalNats {
  /** `nats://127.0.0.1:<port>` */
  url: string;
  stop(): Promise<void>;
}

/** A configuration under test. NATS_STORE_DIR names its folder for data. */
export interface NatsConfiguration {
  /** The configuration file, which may include others of its folder. */
  file: string;
  /** The variables that the configuration reads. */
  env: Readonly<Record<string, string>>;
}

const START_ATTEMPTS = 3;

/**
 * Starts a NATS server with JetStream: the one of `NATS_URL` when set (shared with others), else
 * `nats-server` from the PATH or from Debian's package, else Docker. A configuration always gets its
 * own server.
 *
 * @throws Error when none of them is available
 */
export async function startLocalNats(configuration?: NatsConfiguration): Promise<LocalNats> {
  const given = configuration === undefined ? process.env["NATS_URL"] : undefined;
  if (given !== undefined && given !== "") return { url: given, stop: async () => {} };
  try {
    return await startProgram(await findNatsServer(), configuration);
  } catch (error) {
    if (await hasDocker()) return startInDocker(configuration);
    throw error;
  }
}

/**
 * The path of a nats-server program: from the PATH, else from Debian's package, which is downloaded
 * once and kept below `.cache/`.
 *
 * @throws Error that says what to do when there is neither
 */
export async function findNatsServer(options: NatsPackageOptions = {}): Promise<string> {
  const program = findOnPath("nats-server");
  if (program !== null) return program;
  try {
    return await natsServerFromPackage(options);
  } catch (cause) {
    const reason = isNativeError(cause) ? cause.message : String(cause);
    throw new Error(
      "NATS is needed. Connect this machine to its Debian mirror, put nats-server on the " +
        `PATH, set NATS_URL, or start Docker.\n${reason}`,
      { cause },
    );
  }
}

async function startProgram(
  program: string,
  configuration: NatsConfiguration | undefined,
): Promise<LocalNats> {
  for (let attempt = 1; ; attempt += 1) {
    const folder = await mkdtemp(join(tmpdir(), "workflow-test-nats-"));
    const port = await freePort();
    const what = configuration === undefined ? ["-js", "-sd", folder] : ["-c", configuration.file];
    const args = [...what, "-a", "127.0.0.1", "-p", String(port)];
    const env = { ...process.env, ...configuration?.env, NATS_STORE_DIR: folder };
    const child = spawn(program, args, { stdio: "ignore", env });
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
    // Another program may have taken the port in between; any other error repeats.
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

async function startInDocker(configuration: NatsConfiguration | undefined): Promise<LocalNats> {
  const { GenericContainer } = await import("testcontainers");
  const image = new GenericContainer("nats:2.10-alpine").withExposedPorts(4222);
  if (configuration === undefined) image.withCommand(["-js"]);
  else {
    const { file, env } = configuration;
    const target = "/etc/workflow-nats";
    image
      .withCopyDirectoriesToContainer([{ source: dirname(file), target }])
      .withEnvironment({ ...env, NATS_STORE_DIR: "/tmp/nats" })
      .withCommand(["-c", `${target}/${basename(file)}`]);
  }
  const container = await image.start();
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
