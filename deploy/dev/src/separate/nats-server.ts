import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { setUpNats } from "@workflow/events";
import type { Scope } from "@workflow/service";
import { findNatsServer } from "@workflow/testkit/nats";
import { EVENT_STREAMS } from "../event-consumers.ts";
import { explain, StartError } from "../start-error.ts";
import { PARTS } from "../topology.ts";
import type { ServiceName } from "../topology.ts";
import { freePorts } from "./free-ports.ts";

const CONFIGURATION = join(import.meta.dirname, "../../../nats/nats-server.conf");
const LISTEN_TIMEOUT_MS = 20_000;
const LOOK_INTERVAL_MS = 50;
const LEFTOVER_TIMEOUT_MS = 10_000;
const RESTART_PAUSE_MS = 500;
const PASSWORD_BYTES = 24;

/** A user of the server: a service, or the one that makes streams. */
type NatsUser = ServiceName | "setup";

/** A NATS server on which each service has a user of its own. */
export interface NatsServer {
  urlOf: (service: ServiceName) => string;
  pid(): number | undefined;
}

export interface NatsServerOptions {
  /** Where it keeps its streams; made when missing. */
  folder: string;
  /** Tells people that it has ended by itself. */
  tell: (text: string) => void;
}

/**
 * Starts nats-server with the users of deploy/nats, makes the streams, and starts it again whenever it ends
 * by itself. Passwords are new at each start and stand nowhere but in the environment. The scope stops it.
 *
 * @throws StartError when there is no nats-server and none can be had, or when it does not start
 */
export async function startNatsServer(
  { folder, tell }: NatsServerOptions,
  scope: Scope,
): Promise<NatsServer> {
  const program = await findNatsServer().catch((cause: unknown) => {
    throw new StartError(`There is no NATS server: ${explain(cause)}`, { cause });
  });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pidFile = join(folder, "nats.pid");
  await endLeftover(pidFile);
  const [port = 0] = await freePorts(1);
  const users: readonly NatsUser[] = [...new Set(PARTS.map((part) => part.natsUser)), "setup"];
  const passwords = new Map(
    users.map((user) => [user, randomBytes(PASSWORD_BYTES).toString("hex")]),
  );
  const urlOf = (user: NatsUser): string =>
    `nats://${user}:${passwords.get(user)}@127.0.0.1:${port}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    NATS_STORE_DIR: folder,
    ...Object.fromEntries(
      // The quotes keep a password of digits from being read as a number.
      [...passwords].map(([user, password]) => [
        `NATS_${user.toUpperCase()}_PASSWORD`,
        `"${password}"`,
      ]),
    ),
  };
  let isStopping = false;
  let child: ChildProcess | undefined;

  async function run(): Promise<void> {
    while (!isStopping) {
      const args = ["-c", CONFIGURATION, "-a", "127.0.0.1", "-p", String(port), "-P", pidFile];
      child = spawn(program, args, { env: environment, stdio: "ignore", detached: true });
      await once(child, "exit").catch(() => {});
      child = undefined;
      if (isStopping) return;
      tell("The NATS server has ended by itself. It is started again now.");
      await delay(RESTART_PAUSE_MS);
    }
  }

  const running = run();
  const end = (): void => void child?.kill("SIGKILL");
  process.once("exit", end);
  scope.defer(async () => {
    isStopping = true;
    child?.kill("SIGTERM");
    await running;
    process.off("exit", end);
  });
  await untilListening(port);
  await setUpNats({ servers: urlOf("setup"), streams: EVENT_STREAMS, replicas: 1 });
  return { urlOf, pid: () => child?.pid };
}

/** Ends the server of a start that was killed: two must not write into one folder. */
async function endLeftover(pidFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, "utf8").catch(() => ""));
  const isLeft = async (): Promise<boolean> => {
    if (!Number.isInteger(pid) || pid <= 0) return false;
    // The number may be that of another program by now, whose command names another file.
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return command.includes(pidFile);
  };
  const deadline = performance.now() + LEFTOVER_TIMEOUT_MS;
  while (await isLeft()) {
    process.kill(pid, performance.now() > deadline ? "SIGKILL" : "SIGTERM");
    await delay(RESTART_PAUSE_MS);
  }
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + LISTEN_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (performance.now() > deadline) throw new StartError("The NATS server did not start.");
    await delay(LOOK_INTERVAL_MS);
  }
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
