import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { PAGES_FOLDER } from "../../services/gateway/src/docs/site/site-contents.ts";
import { pathOfPage } from "../support/docs-site/page-addresses.ts";
import { renderMarkdown } from "../support/docs-site/render-markdown.ts";
import { renderSite } from "../support/docs-site/render-site.ts";
import type { RenderedSite } from "../support/docs-site/render-site.ts";

const FOLDER = fileURLToPath(PAGES_FOLDER);

let site: RenderedSite;

beforeAll(async () => {
  site = await renderSite();
  // `UPDATE_DOCS_SITE=1 npm test -- tests/contract/docs-site` renews the pages after a change.
  if (process.env["UPDATE_DOCS_SITE"] !== "1") return;
  await rm(FOLDER, { recursive: true });
  for (const [name, text] of site.files) {
    await mkdir(dirname(join(FOLDER, name)), { recursive: true });
    await writeFile(join(FOLDER, name), text);
  }
});

describe("the documentation that the gateway serves", () => {
  it("is what docs/ says, and nothing besides", async () => {
    const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
    const found = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length));
    expect(found.sort()).toEqual([...site.files.keys()].sort());
    const different: string[] = [];
    for (const [name, text] of site.files) {
      if ((await readFile(join(FOLDER, name), "utf8")) !== text) different.push(name);
    }
    expect(different).toEqual([]);
  });

  it("has every link's page and anchor, each page and each anchor of a page once", () => {
    const anchors = new Map<string, Set<string>>();
    for (const [file, { html }] of site.pages) {
      const ids = Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => String(id));
      expect(ids.filter((id, at) => ids.indexOf(id) !== at || id.startsWith("site-"))).toEqual([]);
      anchors.set(file, new Set(ids));
    }
    const lost = [...site.pages].flatMap(([from, { links }]) =>
      links
        .filter(({ file, fragment }) => fragment !== "" && !anchors.get(file)?.has(fragment))
        .map(({ file, fragment }) => `${from} → ${file}#${fragment}`),
    );
    expect(lost).toEqual([]);
    const paths = [...site.pages.keys()].map(pathOfPage);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => /^(?:api|grpc|assets)(?:\/|$)/.test(path))).toEqual([]);
  });

  it("is made of Markdown alone: tags of authors are text, and addresses that run are no links", () => {
    const text = `# <b>A</b>

<script>alert(1)</script> <img src=x onerror=alert(1)>

[a](javascript:alert(1)) [b](data:text/html,x) \`<i>\`

| <i>c</i> |
| -------- |
| <u>d</u> |

\`\`\`"><script>
<script>
\`\`\`
`;
    const { html, title } = renderMarkdown("docs/README.md", text);
    expect(title).toBe("<b>A</b>");
    expect(html).not.toMatch(/<(?:script|img|b|i|u)\b/);
    expect(html).not.toMatch(/href="(?:javascript|data):/);
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });

  it.each([
    ["a file that is not there", "[x](nothing.md)"],
    ["a folder above the repository", "[x](../../outside.md)"],
    ["another site in plain text", "[x](http://example.com)"],
    ["an image", "![x](https://example.com/x.png)"],
  ])("is not made when a page leads to %s", (_what, link) => {
    expect(() => renderMarkdown("docs/README.md", `# A\n\n${link}\n`)).toThrow();
  });
});
