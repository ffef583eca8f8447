import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileOfPage } from "../../../services/gateway/src/docs/site/site-contents.ts";
import type { SiteContents } from "../../../services/gateway/src/docs/site/site-contents.ts";
import { pathOfPage, ROOT } from "./page-addresses.ts";
import { renderCode, renderMarkdown } from "./render-markdown.ts";
import type { RenderedPage } from "./render-markdown.ts";
import { SECTIONS } from "./site-sections.ts";

const DECISIONS = "docs/adr/README.md";

/** The committed documentation, and its sources. */
export interface RenderedSite {
  /** The texts of the files below the gateway's folder of pages, by name. */
  files: ReadonlyMap<string, string>;
  /** The pages by their file, from the root of the repository. */
  pages: ReadonlyMap<string, RenderedPage>;
}

/** Renders every file of `docs/`, and every other file that a page leads to. */
export async function renderSite(): Promise<RenderedSite> {
  const listed = await filesOfDocs();
  const sections = sectionsOf(listed);
  const pages = await renderAll([...sections.flatMap(({ files }) => files), ...listed]);
  const search = searchText(pages);
  const contents: SiteContents = {
    sections: sections.map(({ title, files }) => ({ title, paths: files.map(pathOfPage) })),
    pages: [...pages].map(([file, { title, html, sections }]) => ({
      path: pathOfPage(file),
      title,
      source: file,
      sha256: sha256(html),
      headings: sections
        .filter(({ level }) => level === 2)
        .map(({ id, heading }) => ({ id, text: heading })),
    })),
    searchSha256: sha256(search),
  };
  const files = new Map([
    ["site.json", `${JSON.stringify(contents, null, 1)}\n`],
    ["search.json", search],
    ...[...pages].map(([file, { html }]): [string, string] => [fileOfPage(pathOfPage(file)), html]),
  ]);
  return { files, pages };
}

async function filesOfDocs(): Promise<string[]> {
  const names = await readdir(join(ROOT, "docs"), { recursive: true });
  return names
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .sort();
}

function sectionsOf(listed: readonly string[]): { title: string; files: string[] }[] {
  const named = new Set<string>(SECTIONS.flatMap(({ files }) => [...files]));
  const others = listed.filter((file) => !named.has(file));
  return SECTIONS.map((section) => {
    const { title, files } = section;
    if (!("folder" in section)) return { title, files: [...files] };
    const { folder } = section;
    const isBeside = (file: string) => file.slice(0, file.lastIndexOf("/") + 1) === folder;
    return { title, files: [...files, ...others.filter(isBeside)] };
  });
}

/** Renders files, then the files that they lead to, until there are no more. */
async function renderAll(files: readonly string[]): Promise<Map<string, RenderedPage>> {
  const pages = new Map<string, RenderedPage>();
  const waiting = [...files];
  for (const file of waiting) {
    if (pages.has(file)) continue;
    const text = await readFile(join(ROOT, file), "utf8");
    const isMarkdown = file.endsWith(".md");
    const whole = file === DECISIONS ? `${text}\n${await listDecisions()}` : text;
    const page = isMarkdown ? renderMarkdown(file, whole) : renderCode(file, whole);
    pages.set(file, page);
    waiting.push(...page.links.map((link) => link.file));
  }
  return pages;
}

/** A list of all decisions in Markdown; people who browse the folder see its files. */
async function listDecisions(): Promise<string> {
  const files = (await filesOfDocs()).filter((file) => /^docs\/adr\/\d/.test(file));
  const lines = await Promise.all(
    files.map(async (file) => {
      const [title = ""] = (await readFile(join(ROOT, file), "utf8")).split("\n");
      return `- [${title.replace(/^# /, "")}](${file.replace("docs/adr/", "")})`;
    }),
  );
  return lines.join("\n");
}

/**
 * The index of the search: for each section a line with the page's path and title, the section's id, its heading
 * and its text.
 */
function searchText(pages: ReadonlyMap<string, RenderedPage>): string {
  const rows = [...pages]
    .filter(([file]) => file.endsWith(".md"))
    .flatMap(([file, { title, sections }]) =>
      sections.map(({ id, heading, text }) =>
        JSON.stringify([pathOfPage(file), title, id, heading, text]),
      ),
    );
  return `[\n${rows.join(",\n")}\n]\n`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
