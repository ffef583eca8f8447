import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/ops/security.md";

describe(PAGE, () => {
  it("names only tests that exist", async () => {
    const text = await readFile(join(ROOT, PAGE), "utf8");
    const tests = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map((match) => match[1] ?? "");
    expect(tests.length).toBeGreaterThan(20);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("links only to pages that exist", async () => {
    const text = await readFile(join(ROOT, PAGE), "utf8");
    const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? "");
    const missing = links.filter((link) => !existsSync(join(ROOT, dirname(PAGE), link)));
    expect(missing).toEqual([]);
  });
});
