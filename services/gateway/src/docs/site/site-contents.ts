import { readFileSync } from "node:fs";
import { z } from "zod";

/** Where the rendered pages lie, with their contents and the text that is searched. */
export const PAGES_FOLDER = new URL("../pages/", import.meta.url);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const pageShape = z.object({
  /** Below `/docs/`; empty for the first page. */
  path: z.string(),
  title: z.string(),
  /** The file of the repository that it was made from. */
  source: z.string(),
  /** Of the rendered file. */
  sha256,
  /** Its sections, by the id of their heading. */
  headings: z.array(z.object({ id: z.string(), text: z.string() })),
});

const contentsShape = z.object({
  /** What the navigation shows: names of groups, and the paths of their pages. */
  sections: z.array(z.object({ title: z.string(), paths: z.array(z.string()) })),
  pages: z.array(pageShape),
  /** Of `search.json`. */
  searchSha256: sha256,
});

/** A page of the documentation. */
export type SitePage = z.infer<typeof pageShape>;

/** All pages of the documentation, and in which order readers find them. */
export type SiteContents = z.infer<typeof contentsShape>;

/** Reads what `tests/contract/docs-site` has written. */
export function readSiteContents(): SiteContents {
  return contentsShape.parse(JSON.parse(readFileSync(new URL("site.json", PAGES_FOLDER), "utf8")));
}

/** Where the rendered text of a page lies below `PAGES_FOLDER`. */
export function fileOfPage(path: string): string {
  return `${path === "" ? "index" : path}.html`;
}
