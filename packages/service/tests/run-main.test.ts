import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";

describe("a service process", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("says ready and ends with 0 after %s", async (signal) => {
    const service = run("works");
    await service.logged("ready");

    service.kill(signal);

    expect(await service.exit()).toEqual({ code: 0, signal: null });
    expect(service.messages()).toEqual(["ready", "stopping"]);
  });

  it("says first which of the settings that it is given have no effect", async () => {
    const service = run("works", {
      RESTATE_INGRESS_URL: "http://localhost:1/hidden",
    });
    await service.logged("ready");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 0, signal: null });
    expect(service.messages()).toEqual([
      "RESTATE_INGRESS_URL is set, but this version does not run on Restate yet.",
      "ready",
      "stopping",
    ]);
    expect(service.lines[0]).toMatchObject({ level: "warn" });
  });

  it("has written the compile cache when it is ready, and writes nothing while it ends", async () => {
    const folder = await mkdtemp(join(tmpdir(), "compile-cache-"));
    const countFiles = async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    };
    try {
      const service = run("works", { NODE_COMPILE_CACHE: folder });
      await service.logged("ready");
      const written = await countFiles();
      expect(written).toBeGreaterThan(0);

      service.kill("SIGTERM");

      expect(await service.exit()).toEqual({ code: 0, signal: null });
      expect(await countFiles()).toBe(written);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("that cannot start ends with 1 and the reason, whatever it left open", async () => {
    const service = run("fails");

    expect(await service.exit()).toEqual({ code: 1, signal: null });
    expect(service.lines[0]).toMatchObject({ level: "fatal", err: { message: "no database" } });
  });

  it("that is misconfigured ends with 1 and the list of what is wrong", async () => {
    const service = run("misconfigured");

    expect(await service.exit()).toEqual({ code: 1, signal: null });
    expect(service.lines[0]).toMatchObject({
      level: "fatal",
      msg: expect.stringContaining("PORT: is required but not set"),
    });
  });

  it("that is stopped during its start ends with 0", async () => {
    const service = run("starts-slowly");
    await service.logged("starting");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 0, signal: null });
    expect(service.messages()).not.toContain("ready");
  });

  it("that is stopped during a start which never ends does not wait for it and ends with 1", async () => {
    const service = run("never-starts");
    await service.logged("starting");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 1, signal: null });
    expect(service.messages()).toContain("the start took too long to give up");
  });

  it("that does not stop in time ends with 1", async () => {
    const service = run("hangs");
    await service.logged("ready");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 1, signal: null });
    expect(service.messages()).toContain("the stop took too long");
  });

  it("that fails to stop ends with 1", async () => {
    const service = run("stops-badly");
    await service.logged("ready");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 1, signal: null });
  });

  it("that leaves something open ends nevertheless", async () => {
    const service = run("forgets");
    await service.logged("ready");

    service.kill("SIGTERM");

    expect(await service.exit()).toEqual({ code: 0, signal: null });
  });

  it("ends at once at the second signal", async () => {
    const service = run("hangs-for-long");
    await service.logged("ready");
    service.kill("SIGTERM");
    await service.logged("stopping");

    service.kill("SIGINT");

    expect(await service.exit()).toEqual({ code: null, signal: "SIGINT" });
  });
});

/** Starts the example service in a process of its own. */
function run(behaviour: string, settings: Readonly<Record<string, string>> = {}) {
  const program = join(import.meta.dirname, "programs/service.ts");
  const child = spawn(process.execPath, [program, behaviour], {
    env: { PATH: process.env["PATH"], ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: { msg?: string }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const exited = once(child, "close");
  const messages = (): (string | undefined)[] => lines.map(({ msg }) => msg);
  return {
    lines,
    messages,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    logged: (message: string) => waitFor(() => messages().includes(message), { timeoutMs: 60_000 }),
    async exit() {
      await exited;
      return { code: child.exitCode, signal: child.signalCode };
    },
  };
}
