import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { z } from "zod";

/* A Jest of its own runs a small file in the environment of all tests. */

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, "../../../node_modules");

const FILE = `
  import { once } from "node:events";
  import { createServer } from "node:http";

  async function answerWith(count) {
    const server = createServer((_, response) => {
      for (let listener = 0; listener < count; listener += 1) response.once("close", () => {});
      response.end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    await (await fetch("http://127.0.0.1:" + server.address().port)).text();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }
  it("few listeners", () => answerWith(3));
  it("many listeners", () => answerWith(30));
  it("few listeners again", () => answerWith(3));
`;

const report = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(z.object({ title: z.string(), status: z.string() })),
    }),
  ),
});

it("listeners that pile up on an answer fail the test during which they do, and no other one", async () => {
  const directory = await mkdtemp(join(tmpdir(), "piled-listeners-"));
  try {
    await writeFile(join(directory, "package.json"), '{"type":"module"}');
    await writeFile(join(directory, "answers.test.js"), FILE);
    const config = {
      rootDir: directory,
      testEnvironment: join(import.meta.dirname, "../src/jest-environment.ts"),
      cacheDirectory: join(directory, "cache"),
      transform: {},
    };
    const jest = join(MODULES, "jest/bin/jest.js");
    const failure: unknown = await run(
      process.execPath,
      ["--experimental-vm-modules", jest, "-i", "--json", "--config", JSON.stringify(config)],
      { cwd: directory, env: { PATH: process.env["PATH"], CI: "true" } },
    ).catch((error: unknown) => error);
    const { stdout } = z.object({ stdout: z.string() }).parse(failure);
    const [file] = report.parse(JSON.parse(stdout)).testResults;
    expect(file?.assertionResults).toMatchObject([
      { title: "few listeners", status: "passed" },
      { title: "many listeners", status: "failed" },
      { title: "few listeners again", status: "passed" },
    ]);
    expect(file?.message).toContain("11 close listeners added to [ServerResponse]");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
