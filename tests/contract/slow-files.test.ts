import { existsSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { SLOW_FILES } from "../support/slow-files-first.ts";

const ROOT = new URL("../../", import.meta.url);

describe("the list of slow test files", () => {
  it("names files that are there", () => {
    const missing = [...SLOW_FILES.keys()].filter((path) => !existsSync(new URL(path, ROOT)));
    expect(missing).toEqual([]);
    expect(SLOW_FILES.size).toBeGreaterThan(0);
  });
});
