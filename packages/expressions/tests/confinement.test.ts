import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { findConfinement } from "../src/confinement.ts";
import type { Confinement, ConfinementLevel } from "../src/confinement.ts";
import { evaluatorSource } from "../src/program-source.ts";
import { startEvaluator } from "../src/start-evaluator.ts";
import { probeEvaluator, probeWrapper } from "./support/probe.ts";
import type { Targets } from "./support/probe.ts";

const LEVELS: readonly ConfinementLevel[] = [
  "isolated",
  "no-network",
  "unprivileged",
  "permissions",
];
const available: Confinement[] = [];
for (const level of LEVELS) {
  const confinement = await findConfinement([level]);
  if (confinement.level === level) available.push(confinement);
}
const find = (level: ConfinementLevel): Confinement | undefined =>
  available.find((each) => each.level === level);

/** Runs where the machine allows the level, and says so by its name where it does not. */
function itAt(
  level: ConfinementLevel,
  title: string,
  test: (confinement: Confinement) => Promise<void>,
): void {
  const confinement = find(level);
  if (confinement === undefined) {
    it.skip(`${title} (this machine does not allow the level "${level}")`, () => {});
  } else it(title, () => test(confinement));
}

let folder: string;
let targets: Targets;
const servers: Server[] = [];

async function listen(where: { path: string } | { port: number; host: string }): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}));
  servers.push(server);
  await once(server.listen(where), "listening");
  return server;
}

beforeAll(async () => {
  // As open as can be, so that it is not the mode that keeps the probe out.
  folder = await mkdtemp(join(tmpdir(), "confinement-"));
  await chmod(folder, 0o777);
  const file = join(folder, "secret");
  await writeFile(file, "secret", { mode: 0o644 });
  const socket = join(folder, "socket");
  await listen({ path: socket });
  await chmod(socket, 0o777);
  const address = (await listen({ port: 0, host: "127.0.0.1" })).address();
  const tcpPort = typeof address === "object" && address !== null ? address.port : 0;
  const writable = join(folder, "written");
  targets = { file, writable, tcpPort, socket, parentPid: process.pid };
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

/** What Node's permission model refuses at every level. */
const REFUSED = {
  "read /etc/passwd": "ERR_ACCESS_DENIED",
  "read the data folder": "ERR_ACCESS_DENIED",
  "read its parent's environment": "ERR_ACCESS_DENIED",
  "read its own memory map": "ERR_ACCESS_DENIED",
  "write a file": "ERR_ACCESS_DENIED",
  spawn: "ERR_ACCESS_DENIED",
  "start a thread": "ERR_ACCESS_DENIED",
  "see an environment": "empty",
};

describe("code in an evaluator's process", () => {
  for (const level of LEVELS) {
    itAt(
      level,
      `reads and writes no file, starts nothing and has no environment at the level ${level}`,
      async (confinement) => {
        const findings = await probeEvaluator(confinement, targets);
        expect(findings).toMatchObject(REFUSED);
        expect(findings["make code from a string"]).toContain("Code generation from strings");
      },
    );
  }

  for (const level of ["isolated", "no-network"] as const) {
    itAt(level, `opens no TCP socket at the level ${level}`, async (confinement) => {
      const findings = await probeEvaluator(confinement, targets);
      expect(findings["connect by TCP"]).toMatch(/^E(NETUNREACH|CONNREFUSED|ADDRNOTAVAIL)$/);
    });
  }

  itAt("isolated", "opens no socket by its path at the level isolated", async (confinement) => {
    const findings = await probeEvaluator(confinement, targets);
    expect(findings["connect by a socket file"]).toBe("ENOENT");
  });

  itAt(
    "isolated",
    "is kept in by the system as well, should Node's permissions fail",
    async (confinement) => {
      expect(await probeWrapper(confinement, targets)).toMatchObject({
        "read /etc/passwd": "ENOENT",
        "read the data folder": "ENOENT",
        "read its parent's environment": "ENOENT",
        "write a file": "ENOENT",
        "connect by a socket file": "ENOENT",
        "connect by TCP": expect.stringMatching(/^E/),
      });
    },
  );

  itAt(
    "unprivileged",
    "cannot look at its parent as the user without rights that root gives it",
    async (confinement) => {
      const findings = await probeWrapper(confinement, targets);
      const isRoot = process.getuid?.() === 0;
      expect(findings["read its parent's environment"]).toBe(isRoot ? "EACCES" : "allowed");
    },
  );

  it("finds nothing but the language in the program that evaluates", async () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // In the same module, so that it can report.
    const tell = `;process.send?.({ id: 1, ok: true, kind: "evaluate",
      output: ["process", "fetch", "require", "WebSocket", "WebAssembly", "Worker", "setTimeout",
        "navigator", "performance", "structuredClone"].filter((name) => name in globalThis).join() });`;
    const confinement = await findConfinement();
    const evaluator = startEvaluator(
      { confinement, source: evaluatorSource() + tell, memoryMiB: 64 },
      {
        onAnswer(answer) {
          if (typeof answer === "object" && answer.ok && answer.kind === "evaluate") {
            resolve(answer.output);
          }
        },
        onCrash: () => reject(new Error("crashed")),
        onFailure: reject,
      },
    );
    expect(await promise).toBe("");
    await evaluator.kill();
  });
});

describe("an evaluator", () => {
  it("that loops for ever ends with the process that started it, however that ends", async () => {
    const program = fileURLToPath(new URL("programs/hold-evaluator.ts", import.meta.url));
    const holder = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    const children = `/proc/${holder.pid}/task/${holder.pid}/children`;
    const pids = (await readFile(children, "utf8")).trim().split(" ");
    expect(pids).toHaveLength(1);
    holder.kill("SIGKILL");
    await waitFor(async () => {
      const status = await readFile(`/proc/${pids[0]}/status`, "utf8").catch(() => "State:\tZ");
      expect(status).toContain("State:\tZ");
    });
  });
});
