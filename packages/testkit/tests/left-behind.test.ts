import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { z } from "zod";

/* A Jest of its own runs small files in the environment of all tests. */

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, "../../../node_modules");

const FILES = {
  "1-tidy": `
    import { createServer } from "node:http";
    it("closes its server", (done) => {
      const server = createServer().listen(0, () => server.close(done));
    });
  `,
  "2-server": `
    import { createServer } from "node:http";
    it("listens", (done) => { createServer().listen(0, done); });
  `,
  "3-process": `
    import { spawn } from "node:child_process";
    it("starts a process", () => { spawn("sleep", ["60"]).unref(); });
  `,
  "4-tidy": `it("does nothing", () => {});`,
};

const report = z.object({
  testResults: z.array(z.object({ name: z.string(), status: z.string(), message: z.string() })),
});

it("a test file that leaves a server or a process behind fails, and says what; the next one does not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "left-behind-"));
  try {
    await writeFile(join(directory, "package.json"), '{"type":"module"}');
    for (const [name, text] of Object.entries(FILES)) {
      await writeFile(join(directory, `${name}.test.js`), text);
    }
    await writeFile(
      join(directory, "by-name.cjs"),
      `const { default: Sequencer } = require(${JSON.stringify(join(MODULES, "@jest/test-sequencer"))});
       module.exports = class extends Sequencer {
         sort(tests) { return [...tests].sort((one, other) => one.path < other.path ? -1 : 1); }
       };`,
    );
    const config = {
      rootDir: directory,
      testEnvironment: join(import.meta.dirname, "../src/jest-environment.ts"),
      testSequencer: join(directory, "by-name.cjs"),
      cacheDirectory: join(directory, "cache"),
      transform: {},
    };
    const jest = join(MODULES, "jest/bin/jest.js");
    const args = ["-i", "--json", "--forceExit", "--config", JSON.stringify(config)];
    const failure: unknown = await run(
      process.execPath,
      ["--experimental-vm-modules", jest, ...args],
      { cwd: directory, env: { PATH: process.env["PATH"], CI: "true" } },
    ).catch((error: unknown) => error);
    const { stdout } = z.object({ stdout: z.string() }).parse(failure);
    const files = report
      .parse(JSON.parse(stdout))
      .testResults.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(files.map(({ status }) => status)).toEqual(["passed", "failed", "failed", "passed"]);
    expect(files[1]?.message).toContain("1 × TCPServerWrap");
    expect(files[2]?.message).toMatch(/process \d+: sleep 60/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
