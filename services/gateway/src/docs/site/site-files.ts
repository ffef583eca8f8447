import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createStaticFile, createTextFile, encode } from "../../http/static-file.ts";
import type { StaticFile } from "../../http/static-file.ts";
import { referencesNavigation } from "../references.ts";
import { fileOfPage, PAGES_FOLDER, readSiteContents } from "./site-contents.ts";
import { framePage } from "./site-page.ts";
import type { SitePageParts } from "./site-page.ts";

/** The paths that the documentation needs of the other references. */
export interface SiteOptions {
  /** The path of an asset from the root. */
  placeAsset: (name: string, extension: string, file: StaticFile) => string;
  style: StaticFile;
  script: StaticFile;
  /** The path of the OpenAPI document, from the root. */
  descriptionPath: string;
}

/** The documentation: its pages by their path below `/docs/`, and the files that only they use. */
export interface SiteFiles {
  pages: ReadonlyMap<string, StaticFile>;
  /** The page for a path that does not exist. */
  missing: StaticFile;
  /** By their path from the root. */
  assets: ReadonlyMap<string, StaticFile>;
}

/**
 * Opens the rendered documentation. Texts are read on first request, so a gateway whose
 * documentation nobody reads holds only the contents.
 */
export function openSite({ placeAsset, style, script, descriptionPath }: SiteOptions): SiteFiles {
  const contents = readSiteContents();
  const library = openSearchLibrary();
  const text = storedFile("search.json", "application/json", contents.searchSha256);
  const parts = {
    contents,
    stylePath: placeAsset("site", "css", style),
    scriptPath: placeAsset("site", "js", script),
    searchModulePath: placeAsset("minisearch", "js", library),
    searchPath: placeAsset("search", "json", text),
  };
  const assets = new Map([
    [parts.stylePath, style],
    [parts.scriptPath, script],
    [parts.searchModulePath, library],
    [parts.searchPath, text],
  ]);
  const missing = openMissing(parts, descriptionPath);
  return { pages: openPages(parts, descriptionPath), missing, assets };
}

const MISSING = { path: "404", title: "No such page", source: "docs", sha256: "", headings: [] };
const MISSING_TEXT = `<h1>There is no such page</h1>
<p>It may have another name by now. Search for it, or look into the contents.</p>
`;

/** The navigation and the search are the same as on each page. */
function openMissing(
  parts: Omit<SitePageParts, "references">,
  descriptionPath: string,
): StaticFile {
  const references = referencesNavigation("guide", "true", descriptionPath);
  const { before, after } = framePage(MISSING, { ...parts, references });
  return createTextFile("text/html; charset=utf-8", before + MISSING_TEXT + after);
}

function openPages(
  parts: Omit<SitePageParts, "references">,
  descriptionPath: string,
): Map<string, StaticFile> {
  const { pages } = parts.contents;
  const frames = pages.map((page) => {
    const mark = page.path === "" ? "page" : "true";
    const references = referencesNavigation("guide", mark, descriptionPath);
    return { page, frame: () => framePage(page, { ...parts, references }) };
  });
  // Frames differ by their page and these contents, so the digest of one frame stands for the words
  // that all share.
  const shared = digestOf(JSON.stringify([parts, frames[0]?.frame()]));
  return new Map(
    frames.map(({ page, frame }): [string, StaticFile] => {
      const digest = digestOf(page.sha256 + shared);
      const make = async () => {
        const { before, after } = frame();
        return before + (await readPageFile(fileOfPage(page.path))).toString() + after;
      };
      const contentType = "text/html; charset=utf-8";
      return [
        page.path,
        createStaticFile({
          contentType,
          digest,
          make: async (encoding) => encode(Buffer.from(await make()), encoding),
        }),
      ];
    }),
  );
}

function storedFile(name: string, contentType: string, digest: string): StaticFile {
  return createStaticFile({
    contentType,
    digest,
    make: async (encoding) => encode(await readPageFile(name), encoding),
  });
}

/** The search script, as its package brings it for browsers. */
function openSearchLibrary(): StaticFile {
  const file = fileURLToPath(import.meta.resolve("minisearch"));
  return createTextFile("text/javascript; charset=utf-8", readFileSync(file, "utf8"));
}

function readPageFile(name: string): Promise<Buffer> {
  return readFile(new URL(name, PAGES_FOLDER));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
