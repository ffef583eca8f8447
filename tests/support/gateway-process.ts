import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE, freePort, waitFor } from "@workflow/testkit";
import type { WholeSystem } from "./whole-system.ts";

const MAIN = fileURLToPath(new URL("../../services/gateway/src/main.ts", import.meta.url));

/** A gateway process that a test may stop and kill. */
export interface GatewayProcess {
  child: ChildProcess;
  /** The origin, `http://127.0.0.1:<port>`. */
  origin: string;
}

/**
 * Starts a gateway of a system as a process of its own, which ends with the test's process.
 * @param settings environment variables: at least the database's and those of the test
 */
export async function startGatewayProcess(
  system: WholeSystem,
  settings: Record<string, string>,
): Promise<GatewayProcess> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { grpcAddresses: to } = system;
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...COMPILE_CACHE,
      ...system.tokens.environment("gateway"),
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "error",
      WORKFLOWS_GRPC_ADDR: to.workflows,
      RUNS_GRPC_ADDR: to.runs,
      TABLES_GRPC_ADDR: to.tables,
      INTEGRATIONS_GRPC_ADDR: to.integrations,
      WEBHOOKS_GRPC_ADDR: to.webhooks,
      ...settings,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  const answers = async (): Promise<boolean> => {
    const response = await fetch(`${origin}/livez`).catch(() => null);
    await response?.text();
    return response?.status === 200;
  };
  await waitFor(answers, { timeoutMs: 150_000, what: "the gateway's process" });
  return { child, origin };
}
