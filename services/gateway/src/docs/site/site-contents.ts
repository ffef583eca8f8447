import { readFileSync } from "node:fs";
import { z } from "zod";

/** The folder of the rendered pages, with their contents and the search text. */
export const PAGES_FOLDER = new URL("../pages/", import.meta.url);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const pageShape = z.object({
  /** The path below `/docs/`; empty for the first page. */
  path: z.string(),
  title: z.string(),
  /** The Markdown file that it was made from. */
  source: z.string(),
  /** The digest of the rendered file. */
  sha256,
  /** Its sections, by the id of their heading. */
  headings: z.array(z.object({ id: z.string(), text: z.string() })),
});

const contentsShape = z.object({
  /** The navigation: names of groups, and the paths of their pages. */
  sections: z.array(z.object({ title: z.string(), paths: z.array(z.string()) })),
  pages: z.array(pageShape),
  /** The digest of `search.json`. */
  searchSha256: sha256,
});

/** A page of the documentation. */
export type SitePage = z.infer<typeof pageShape>;

/** All pages of the documentation, in reading order. */
export type SiteContents = z.infer<typeof contentsShape>;

/** Reads the contents that `tests/contract/docs-site` has written. */
export function readSiteContents(): SiteContents {
  return contentsShape.parse(JSON.parse(readFileSync(new URL("site.json", PAGES_FOLDER), "utf8")));
}

/** The path of a page's rendered text below `PAGES_FOLDER`. */
export function fileOfPage(path: string): string {
  return `${path === "" ? "index" : path}.html`;
}
