import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const MAIN = {
  gateway: "services/gateway/src/main.ts",
  "gateway-2": "services/gateway/src/main.ts",
  workflows: "services/workflows/src/main.ts",
  "workflows-2": "services/workflows/src/main.ts",
  "runs-api": "services/runs/src/main.ts",
  "runs-api-2": "services/runs/src/main.ts",
  "runs-worker": "services/runs/src/main.ts",
  "runs-worker-2": "services/runs/src/main.ts",
  tables: "services/tables/src/main.ts",
  integrations: "services/integrations/src/main.ts",
  webhooks: "services/webhooks/src/main.ts",
  "webhooks-2": "services/webhooks/src/main.ts",
} as const;

/**
 * The processes of the system. A name with a 2 is a second replica, which a test starts if it needs one; second
 * replicas call each other.
 */
export type ProcessName = keyof typeof MAIN;

/** The processes of the system by their names, each of which may end and be started again. */
export class NamedProcesses {
  readonly #environmentOf: (name: ProcessName) => NodeJS.ProcessEnv;
  readonly #processes = new Map<ProcessName, ChildProcess>();

  constructor(environmentOf: (name: ProcessName) => NodeJS.ProcessEnv) {
    this.#environmentOf = environmentOf;
  }

  /** Starts a process unless it runs. */
  async start(name: ProcessName): Promise<void> {
    if (isAlive(this.#processes.get(name))) return;
    const child = spawn(process.execPath, [join(ROOT, MAIN[name])], {
      env: this.#environmentOf(name),
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.on("data", (chunk: Buffer) => {
      if (process.env["TEST_LOG_LEVEL"] !== undefined) process.stderr.write(chunk);
    });
    const end = (): void => void child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    this.#processes.set(name, child);
    await once(child, "spawn");
  }

  /** Sends a signal and, when it ends the process, waits for that. */
  async kill(name: ProcessName, signal: NodeJS.Signals): Promise<void> {
    const child = this.#processes.get(name);
    if (!isAlive(child)) return;
    const exited = once(child, "exit");
    child.kill(signal);
    if (signal !== "SIGSTOP" && signal !== "SIGCONT") await exited;
  }

  /** Ends all processes by SIGKILL. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#processes.keys()].map((name) => this.kill(name, "SIGKILL")));
  }
}

function isAlive(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Postgres on a folder of its own, or the one at the given address, which this system cannot end. */
export async function startOwnPostgres(givenUri: string | undefined) {
  const dataDir = await mkdtemp(join(tmpdir(), "separate-system-"));
  let postgres =
    givenUri === undefined ? await startLocalPostgres({ dataDir, durable: true }) : undefined;
  const own = (): LocalPostgres => {
    if (postgres === undefined) throw new Error("Postgres is not this system's own.");
    return postgres;
  };
  return {
    databaseUri: givenUri ?? own().connectionUri,
    async stop(how: "orderly" | "SIGKILL"): Promise<void> {
      if (how === "orderly") return own().stop();
      process.kill(own().pid, "SIGKILL");
      await own().exited;
    },
    async startAgain(): Promise<void> {
      const { connectionUri } = own();
      postgres = await startLocalPostgres({ dataDir, durable: true });
      if (postgres.connectionUri !== connectionUri) throw new Error("Postgres has moved.");
    },
    async close(): Promise<void> {
      await postgres?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
