import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "@workflow/async";
import { setUpNats } from "@workflow/events";
import { findNatsServer } from "@workflow/testkit/nats";
import { EVENT_STREAMS } from "../event-consumers.ts";
import { explain, StartError } from "../start-error.ts";
import { PARTS } from "../topology.ts";
import type { ServiceName } from "../topology.ts";
import { freePorts } from "./free-ports.ts";

const CONFIGURATION = join(import.meta.dirname, "../../../nats/nats-server.conf");
const LISTEN_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 50;
const LEFTOVER_TIMEOUT_MS = 10_000;
const LEFTOVER_POLL_MS = 500;
/** After this time a server counts as healthy, and its end says nothing about the next one. */
const HEALTHY_MS = 30_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 15_000] as const;
const PASSWORD_BYTES = 24;
/**
 * The head of the server's log lines: `[pid] date time [LEVEL]`, or its name before the log is open.
 */
const LINE_HEAD = /^(\[\d+\] \S+ \S+ \[\w+\] |nats-server: )/;
const ORDINARY_LINE = /^\[\d+\] \S+ \S+ \[(INF|DBG|TRC|WRN)\]/;

/** A user of the server: a service, or `setup`, which makes streams. */
type NatsUser = ServiceName | "setup";

/** A NATS server with a user for each service. */
export interface NatsServer {
  urlOf: (service: ServiceName) => string;
  pid(): number | undefined;
}

export interface NatsServerOptions {
  /** The folder for its streams; created when missing. */
  folder: string;
  /** Ports that the server may not use. */
  keptPorts?: readonly number[];
  /** Tells people that the server has ended by itself. */
  tell: (text: string) => void;
  /** Aborts a start that is under way. */
  signal: AbortSignal;
}

/**
 * Starts nats-server with the users of deploy/nats and makes the streams. A server that ends by itself is
 * restarted, and its own words give the reason. Passwords are new at each start and exist only in the environment.
 * The scope stops the server.
 * @throws StartError when nats-server is missing and cannot be fetched, or does not start; the signal's reason
 */
export async function startNatsServer(
  { folder, keptPorts, tell, signal }: NatsServerOptions,
  scope: Scope,
): Promise<NatsServer> {
  const program = await findNatsServer().catch((cause: unknown) => {
    throw new StartError(`There is no NATS server: ${explain(cause)}`, { cause });
  });
  signal.throwIfAborted();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pidFile = join(folder, "nats.pid");
  await endLeftover(pidFile);
  const [port = 0] = await freePorts(1, keptPorts);
  const passwords = makePasswords();
  const urlOf = (user: NatsUser): string =>
    `nats://${user}:${passwords.get(user)}@127.0.0.1:${port}`;
  const args = ["-c", CONFIGURATION, "-a", "127.0.0.1", "-p", String(port), "-P", pidFile];
  const supervised = supervise(
    () =>
      spawn(program, args, {
        env: environmentOf(folder, passwords),
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
      }),
    tell,
  );
  scope.defer(() => supervised.stop());
  const decided = new AbortController();
  const waiting = untilListening(port, AbortSignal.any([signal, decided.signal]));
  await Promise.race([waiting, supervised.refused]).finally(() => decided.abort());
  signal.throwIfAborted();
  supervised.listens();
  await setUpNats({ servers: urlOf("setup"), streams: EVENT_STREAMS, replicas: 1 });
  return { urlOf, pid: () => supervised.pid() };
}

/** Starts a server again whenever it ends by itself; one that never listened is refused instead. */
function supervise(launch: () => ChildProcess, tell: (text: string) => void) {
  const stopping = new AbortController();
  const refused = Promise.withResolvers<never>();
  // The promise may have no listener any more.
  refused.promise.catch(() => {});
  let wasListening = false;
  let child: ChildProcess | undefined;

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      child = launch();
      const reason = await endOf(child);
      child = undefined;
      if (stopping.signal.aborted) return;
      if (!wasListening) {
        refused.reject(new StartError(`The NATS server did not start (${reason}).`));
        return;
      }
      if (performance.now() - startedAt > HEALTHY_MS) failures = 0;
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
      failures += 1;
      const when = `in ${pauseMs / 1_000} s`;
      tell(`The NATS server has ended by itself (${reason}). It is started again ${when}.`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const running = run();
  const end = (): void => void child?.kill("SIGKILL");
  process.once("exit", end);
  return {
    refused: refused.promise,
    pid: () => child?.pid,
    /** From now on an end of the server is no failed start. */
    listens: () => void (wasListening = true),
    async stop(): Promise<void> {
      stopping.abort();
      child?.kill("SIGTERM");
      await running;
      process.off("exit", end);
    },
  };
}

function makePasswords(): ReadonlyMap<NatsUser, string> {
  const users: readonly NatsUser[] = [...new Set(PARTS.map((part) => part.natsUser)), "setup"];
  return new Map(users.map((user) => [user, randomBytes(PASSWORD_BYTES).toString("hex")]));
}

function environmentOf(
  folder: string,
  passwords: ReadonlyMap<NatsUser, string>,
): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    NATS_STORE_DIR: quoted(folder),
    ...Object.fromEntries(
      // Without quotes, a password of digits would be read as a number.
      [...passwords].map(([user, password]) => [
        `NATS_${user.toUpperCase()}_PASSWORD`,
        quoted(password),
      ]),
    ),
  };
}

/** Quotes a text for the server's configuration, where an unquoted value ends at a space. */
function quoted(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Waits for a server's end. Returns its last words about a fault, else how it ended. */
async function endOf(child: ChildProcess): Promise<string> {
  let lastWords = "";
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const words = line.replace(LINE_HEAD, "").trim();
      if (!ORDINARY_LINE.test(line) && words !== "") lastWords = words;
    });
  }
  try {
    await once(child, "close");
  } catch (error) {
    return explain(error);
  }
  if (lastWords !== "") return lastWords;
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** Ends the server of a killed start: two servers must not write into one folder. */
async function endLeftover(pidFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, "utf8").catch(() => ""));
  const isLeft = async (): Promise<boolean> => {
    if (!Number.isInteger(pid) || pid <= 0) return false;
    // Another program may have the number by now. Its command would name another file.
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return command.includes(pidFile);
  };
  const deadline = performance.now() + LEFTOVER_TIMEOUT_MS;
  while (await isLeft()) {
    process.kill(pid, performance.now() > deadline ? "SIGKILL" : "SIGTERM");
    await delay(LEFTOVER_POLL_MS);
  }
}

async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + LISTEN_TIMEOUT_MS;
  while (!(await accepts(port))) {
    signal.throwIfAborted();
    if (performance.now() > deadline) throw new StartError("The NATS server did not start.");
    await delay(POLL_INTERVAL_MS);
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
