import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { z } from "zod";

/*
 * What one test file leaves to the next of its worker: the loaded modules of packages and services, and
 * nothing else. A Jest of their own runs two small files, one after the other, whose tests have equal names.
 */

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, "../../../node_modules");
const SOURCES = join(import.meta.dirname, "../src");

/** Says how often it was loaded. */
const COUNTING = `
  const counts = (globalThis.counts ??= {});
  counts[import.meta.filename] = (counts[import.meta.filename] ?? 0) + 1;
  export const loaded = counts[import.meta.filename];
`;

const counts = (expected: string) => `
  import { loaded as inPackage } from "../packages/one/src/own.js";
  import { loaded as inService } from "../services/one/src/own.js";
  import { loaded as inSupport } from "./support.js";
  import { loaded as inTestkit } from "../packages/testkit/src/kit.js";
  it("counts", () => expect([inPackage, inService, inSupport, inTestkit]).toEqual(${expected}));
`;

const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ type: "module" }),
  "packages/one/src/own.js": COUNTING,
  "services/one/src/own.js": COUNTING,
  "tests/support.js": COUNTING,
  "packages/testkit/src/kit.js": COUNTING,
  "services/one/src/failing.js": `${COUNTING} if (loaded === 1) throw new Error("no");`,
  "sequencer.cjs": `
    const { default: Sequencer } = require(${JSON.stringify(join(MODULES, "@jest/test-sequencer"))});
    module.exports = class extends Sequencer {
      sort(tests) { return [...tests].sort((a, b) => (a.path < b.path ? -1 : 1)); }
    };`,
  "tests/first.test.js": `
    import { jest } from "@jest/globals";
    ${counts("[1, 1, 1, 1]")}
    it("fails", () => expect(import("../services/one/src/failing.js")).rejects.toThrow("no"));
    afterAll(() => void (globalThis.ended = (globalThis.ended ?? 0) + 1));
    it("changes", () => {
      globalThis.fetch = () => "mine";
      globalThis.Date = class {};
      process.env.MINE = "1";
      delete process.env.CI;
      jest.spyOn(Math, "max").mockReturnValue(-1);
      jest.useFakeTimers({ now: 0 });
    });`,
  "tests/second.test.js": `
    ${counts("[1, 1, 2, 2]")}
    it("fails", async () => expect((await import("../services/one/src/failing.js")).loaded).toBe(2));
    it("changes", () => {
      expect(globalThis.ended).toBe(1);
      expect(String(fetch)).not.toContain("mine");
      expect(Date.now()).toBeGreaterThan(1e12);
      expect([process.env.MINE, process.env.CI]).toEqual([undefined, "true"]);
      expect(Math.max(1, 2)).toBe(2);
      expect(setTimeout).not.toHaveProperty("clock");
    });`,
};

const report = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(z.object({ title: z.string(), status: z.string() })),
    }),
  ),
});

let directory: string;
let results: z.output<typeof report>["testResults"];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "kept-modules-"));
  for (const [file, text] of Object.entries(FILES)) {
    const path = join(directory, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const config = {
    rootDir: directory,
    testEnvironment: join(SOURCES, "jest-environment.ts"),
    runtime: join(SOURCES, "jest-runtime.ts"),
    testSequencer: join(directory, "sequencer.cjs"),
    cacheDirectory: join(directory, "cache"),
    transform: {},
  };
  const jest = join(MODULES, "jest/bin/jest.js");
  const { stdout } = await run(
    process.execPath,
    ["--experimental-vm-modules", jest, "-i", "--json", "--config", JSON.stringify(config)],
    { cwd: directory, env: { PATH: process.env["PATH"], CI: "true" } },
  );
  results = report.parse(JSON.parse(stdout)).testResults;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What became of the tests of this name, in both files. */
function outcomesOf(name: string) {
  return results.map(({ message, assertionResults }) => ({
    message,
    status: assertionResults.find(({ title }) => title === name)?.status,
  }));
}

const BOTH_PASSED = [
  { message: "", status: "passed" },
  { message: "", status: "passed" },
];

it("a file gets the loaded modules of packages and services, and its own of everything else", () => {
  expect(outcomesOf("counts")).toEqual(BOTH_PASSED);
});

it("a module that failed is loaded again for the next file", () => {
  expect(outcomesOf("fails")).toEqual(BOTH_PASSED);
});

it("globals, variables, spies, clocks and hooks of a file end with it", () => {
  expect(outcomesOf("changes")).toEqual(BOTH_PASSED);
});
