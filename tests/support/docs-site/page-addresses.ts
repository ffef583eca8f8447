import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { SECTIONS } from "./site-sections.ts";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const ELSEWHERE = /^(?:https:\/\/|http:\/\/localhost[:/])/;

/** Files that the site calls by another name, and those with a reference of their own. */
const NAMES: Readonly<Record<string, string>> = {
  "README.md": "docs/README.md",
  "proto/workflow": "/docs/grpc",
};

/**
 * Folders whose files become pages once a page leads to them. Other folders are for people with the repository.
 */
const SHOWN_FOLDERS = /^(?:docs|examples)\//;
const SHOWN_FILES = new Set<string>(SECTIONS.flatMap(({ files }) => [...files]));

/** The target of a link: a page, another address, or a file that only the repository has. */
export type LinkTarget =
  | { kind: "elsewhere" }
  | { kind: "address" }
  | { kind: "page"; file: string; fragment: string }
  | { kind: "repository"; file: string };

/**
 * The target of a link.
 * @param file the file with the link, from the root of the repository
 * @throws Error when the link leads to nothing in the repository
 */
export function resolveLink(href: string, file: string): LinkTarget {
  if (ELSEWHERE.test(href)) return { kind: "elsewhere" };
  if (href.startsWith("/")) return { kind: "address" };
  const [path = "", fragment = ""] = decodeURI(href).split("#");
  const found = path === "" ? file : normalize(join(dirname(file), path)).replace(/\/$/, "");
  const target = NAMES[found] ?? found;
  if (target.startsWith("/")) return { kind: "address" };
  const whole = join(ROOT, target);
  if (target.startsWith("..") || !existsSync(whole)) {
    throw new Error(`${file} links to ${href}, which is not there.`);
  }
  const page = statSync(whole).isDirectory() ? `${target}/README.md` : target;
  if (SHOWN_FOLDERS.test(page) || SHOWN_FILES.has(page))
    return { kind: "page", file: page, fragment };
  return { kind: "repository", file: target };
}

/** The path of a file's page below `/docs/`; empty for the first page. */
export function pathOfPage(file: string): string {
  if (!file.endsWith(".md")) return `source/${file}`;
  const path = file.replace(/^docs\//, "").slice(0, -".md".length);
  if (path === "README") return "";
  if (!path.includes("/")) return path.toLowerCase();
  return path.replace(/\/README$/, "");
}
