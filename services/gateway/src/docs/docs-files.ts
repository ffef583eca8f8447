import { readFileSync } from "node:fs";
import { referencePage } from "./reference-page.ts";
import { openScalarScript } from "./scalar-file.ts";
import { openSite } from "./site/site-files.ts";
import { createTextFile } from "../http/static-file.ts";
import type { StaticFile } from "../http/static-file.ts";

/** A file and the headers that protect it. */
export interface DocsFile {
  file: StaticFile;
  /** A name for logs and metrics; assets share one. */
  route: string;
  cacheControl: string;
  contentSecurityPolicy: string;
}

/** The path of the references; the documentation begins there. */
export const DOCS_BASE = "/docs";

/** The path of the page with every operation of the REST API. */
export const API_REFERENCE_PATH = `${DOCS_BASE}/api`;

const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

const NOTHING = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/**
 * Scalar writes styles into the page whose text depends on the content, so no hash can allow them.
 * A style can do no harm here: it loads from this origin only and sends nothing elsewhere.
 */
const REFERENCE_POLICY = [
  ...NOTHING,
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
].join("; ");

/** The policy of the documentation, whose script loads the search index from this origin. */
const SITE_POLICY = [
  ...NOTHING,
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
].join("; ");

const TEXT_POLICY = [...NOTHING, "style-src 'self'", "img-src data:"].join("; ");

const ALWAYS_ASK = "no-cache";
/** The name of an asset changes with its content. */
const FOR_GOOD = "public, max-age=31536000, immutable";

/** The files below `DOCS_BASE`. */
export interface DocsFiles {
  /** By their path below it. */
  files: ReadonlyMap<string, DocsFile>;
  /** For readers who request another path. */
  missing: DocsFile;
}

/** All files of the references. */
export function openDocsFiles(descriptionPath: string): DocsFiles {
  const site = openSite({
    placeAsset,
    style: textAsset("site.css", CSS),
    script: textAsset("site.js", JAVASCRIPT),
    descriptionPath,
  });
  const reference = openReference(descriptionPath);
  const grpcStyle = textAsset("grpc.css", CSS);
  const grpcStylePath = placeAsset("grpc", "css", grpcStyle);
  const grpc = readText("grpc.html").replace('href="grpc.css"', `href="${grpcStylePath}"`);
  const sitePages = [...site.pages].map(([path, file]): [string, DocsFile] => {
    const route = path === "" ? DOCS_BASE : `${DOCS_BASE}/{page}`;
    return [`/${path}`, page(route, file, SITE_POLICY)];
  });
  const assets = [...site.assets, ...reference.assets, [grpcStylePath, grpcStyle] as const];
  const files = new Map([
    ...sitePages,
    ["/api", page(API_REFERENCE_PATH, htmlFile(reference.html), REFERENCE_POLICY)],
    ["/grpc", page(`${DOCS_BASE}/grpc`, htmlFile(grpc), TEXT_POLICY)],
    ...assets.map(([path, file]): [string, DocsFile] => [
      path.slice(DOCS_BASE.length),
      asset(file),
    ]),
  ]);
  return { files, missing: page(`${DOCS_BASE}/{page}`, site.missing, SITE_POLICY) };
}

/** The page that shows the OpenAPI document, and its files by their paths from the root. */
function openReference(descriptionPath: string): {
  html: string;
  assets: (readonly [string, StaticFile])[];
} {
  const scalar = openScalarScript();
  const start = textAsset("reference.js", JAVASCRIPT);
  const style = textAsset("reference.css", CSS);
  const scriptPath = `${DOCS_BASE}/assets/scalar-${scalar.version}.js`;
  const startPath = placeAsset("reference", "js", start);
  const stylePath = placeAsset("reference", "css", style);
  return {
    html: referencePage({ scriptPath, startPath, stylePath, descriptionPath }),
    assets: [
      [scriptPath, scalar.file],
      [startPath, start],
      [stylePath, style],
    ],
  };
}

function htmlFile(html: string): StaticFile {
  return createTextFile("text/html; charset=utf-8", html);
}

function page(route: string, file: StaticFile, contentSecurityPolicy: string): DocsFile {
  return { file, route, cacheControl: ALWAYS_ASK, contentSecurityPolicy };
}

function asset(file: StaticFile): DocsFile {
  const contentSecurityPolicy = NOTHING.join("; ");
  const route = `${DOCS_BASE}/assets/{name}`;
  return { file, route, cacheControl: FOR_GOOD, contentSecurityPolicy };
}

/** The path of an asset from the root. */
function placeAsset(name: string, extension: string, { digest }: StaticFile): string {
  return `${DOCS_BASE}/assets/${name}-${digest.slice(0, 12)}.${extension}`;
}

function textAsset(name: string, contentType: string): StaticFile {
  return createTextFile(contentType, readText(name));
}

function readText(name: string): string {
  return readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");
}
