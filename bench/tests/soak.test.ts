import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";

const SOAK = join(import.meta.dirname, "../soak.ts");

function soak(...args: string[]) {
  return promisify(execFile)(process.execPath, [SOAK, ...args]);
}

describe("npm run soak", () => {
  it("prints how much memory has grown and ends by itself, with a failure when it was too much", async () => {
    const ended = soak("0.5", "--callers", "200").catch((error: unknown) => error);
    expect(await ended).toMatchObject({
      stdout: expect.stringMatching(/^RSS growth: -?\d+\.\d %, at most 10 %: (pass|FAIL)$/m),
      stderr: "",
    });
  }, 240_000);

  it("refuses a time that is none, before anything is started", async () => {
    await expect(soak("soon")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("npm run soak -- [minutes]"),
    });
  });
});
