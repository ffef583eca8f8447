import { spawn } from "node:child_process";
import type { Confinement } from "../../src/confinement.ts";
import { startEvaluator } from "../../src/start-evaluator.ts";

/** What a probe found: for each thing that it tried, "allowed" or the error's code. */
export type Findings = Record<string, string>;

/** What a probe tries to reach. */
export interface Targets {
  file: string;
  writable: string;
  tcpPort: number;
  socket: string;
  parentPid: number;
}

/** The text of a program that tries everything, and then calls `report` with what it found. */
function probeSource(targets: Targets): string {
  return `
    const targets = ${JSON.stringify(targets)};
    const load = (name) => process.getBuiltinModule("node:" + name);
    const findings = {};
    const attempt = async (name, action) => {
      try {
        await action();
        findings[name] = "allowed";
      } catch (error) {
        findings[name] = String(error.code ?? error.message);
      }
    };
    const connect = (options) =>
      new Promise((resolve, reject) => {
        const socket = load("net").connect(options, () => { socket.destroy(); resolve(); });
        socket.on("error", reject);
      });
    await attempt("read /etc/passwd", () => load("fs").readFileSync("/etc/passwd"));
    await attempt("read the data folder", () => load("fs").readFileSync(targets.file));
    await attempt("read its parent's environment", () =>
      load("fs").readFileSync("/proc/" + targets.parentPid + "/environ"));
    await attempt("read its own memory map", () => load("fs").readFileSync("/proc/self/maps"));
    await attempt("write a file", () => load("fs").writeFileSync(targets.writable, "x"));
    await attempt("spawn", () => {
      const { error, status } = load("child_process").spawnSync("/bin/true");
      if (error) throw error;
      if (status !== 0) throw new Error("status " + status);
    });
    await attempt("start a thread", () => new Promise((resolve, reject) => {
      const worker = new (load("worker_threads").Worker)("", { eval: true });
      worker.on("online", resolve);
      worker.on("error", reject);
    }));
    await attempt("make code from a string", () => new Function("return 1")());
    await attempt("connect by TCP", () => connect({ host: "127.0.0.1", port: targets.tcpPort }));
    await attempt("connect by a socket file", () => connect({ path: targets.socket }));
    await attempt("see an environment", () => {
      const names = Object.keys(process.env);
      if (names.length === 0) throw new Error("empty");
    });
    report(findings);
  `;
}

/** Starts the probe exactly as an evaluator is started. */
export async function probeEvaluator(
  confinement: Confinement,
  targets: Targets,
): Promise<Findings> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const report = `const report = (findings) =>
    process.send({ id: 1, ok: true, kind: "evaluate", output: JSON.stringify(findings) });`;
  const source = report + probeSource(targets);
  const evaluator = startEvaluator(
    { confinement, source, memoryMiB: 64 },
    {
      onAnswer(answer) {
        if (typeof answer === "object" && answer.ok && answer.kind === "evaluate") {
          resolve(answer.output);
        }
      },
      onCrash: () => reject(new Error("the probe crashed")),
      onFailure: reject,
    },
  );
  try {
    return JSON.parse(await promise);
  } finally {
    await evaluator.kill();
  }
}

/** Starts the probe behind the wrapper alone, without Node's permission model. */
export function probeWrapper(confinement: Confinement, targets: Targets): Promise<Findings> {
  const [program, args] = confinement.command(["--input-type=module", "-"]);
  const child = spawn(program, args, { env: {}, stdio: ["pipe", "pipe", "inherit"] });
  const report = `const report = (findings) => {
    process.stdout.write(JSON.stringify(findings), () => process.exit());
  };`;
  child.stdin.end(report + probeSource(targets));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const { promise, resolve, reject } = Promise.withResolvers<Findings>();
  child.on("error", reject);
  child.on("close", () => resolve(JSON.parse(text)));
  return promise;
}
