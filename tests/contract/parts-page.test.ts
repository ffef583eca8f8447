import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { format } from "prettier";
import { PARTS, partOf } from "../../deploy/dev/src/topology.ts";
import { PARTS_LISTS } from "../support/parts-page.ts";

const PAGE = join(import.meta.dirname, "../../docs/ops/separate.md");

/** The page with the lists as the parts have them. */
async function renewed(page: string): Promise<string> {
  let text = page;
  for (const [heading, render] of Object.entries(PARTS_LISTS)) {
    // From the heading to the first line after it that is neither empty nor of a table.
    const section = new RegExp(
      `(^## ${heading}\\n\\n)(?:\\|[^\\n]*\\n|(?:Parts|Edges|Settings)\\n)+`,
      "m",
    );
    expect(text).toMatch(section);
    text = text.replace(section, (_all, head: string) => `${head}${render()}`);
  }
  return format(text, { parser: "markdown", printWidth: 100 });
}

it("docs/ops/separate.md lists the parts as they are", async () => {
  const page = await readFile(PAGE, "utf8");
  const right = await renewed(page);
  if (process.env["UPDATE_PARTS_PAGE"] === "1") await writeFile(PAGE, right);
  else expect(page).toBe(right);
});

it("each part knows the settings by which it listens, is called and is signed for", () => {
  for (const part of PARTS) {
    const settings = part.listens.map(({ setting }) => setting);
    expect(part.settings).toEqual(expect.arrayContaining(settings));
    for (const { to, setting, protocol } of part.calls) {
      expect(part.settings).toContain(setting);
      expect(partOf(to).listens).toContainEqual(expect.objectContaining({ setting, protocol }));
    }
    expect(part.settings.includes("INTERNAL_TOKEN_PRIVATE_KEY")).toBe(part.signsAs !== null);
  }
});
