import { readFileSync } from "node:fs";
import { referencePage } from "./reference-page.ts";
import { openScalarScript } from "./scalar-file.ts";
import { createTextFile } from "../http/static-file.ts";
import type { StaticFile } from "../http/static-file.ts";

/** A file and the rules under which it goes out. */
export interface DocsFile {
  file: StaticFile;
  /** For logs and metrics; assets share one. */
  route: string;
  cacheControl: string;
  contentSecurityPolicy: string;
}

/** Where the references are. */
export const DOCS_BASE = "/docs";

const NOTHING = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/**
 * Scalar writes styles into the page whose text depends on what is shown, so no hash can stand for them. A
 * style can do no harm here: whatever it would load or send goes to this origin or nowhere.
 */
const REFERENCE_POLICY = [
  ...NOTHING,
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
].join("; ");

const TEXT_POLICY = [...NOTHING, "style-src 'self'", "img-src data:"].join("; ");

const ALWAYS_ASK = "no-cache";
/** The name of an asset changes with its content. */
const FOR_GOOD = "public, max-age=31536000, immutable";

/** All files of the references, by their paths below `DOCS_BASE`. */
export function openDocsFiles(descriptionPath: string): ReadonlyMap<string, DocsFile> {
  const scalar = openScalarScript();
  const start = textAsset("reference.js", "text/javascript; charset=utf-8");
  const referenceStyle = textAsset("reference.css", "text/css; charset=utf-8");
  const grpcStyle = textAsset("grpc.css", "text/css; charset=utf-8");
  const assets = new Map([
    [`/assets/scalar-${scalar.version}.js`, scalar.file],
    [assetPath("reference", "js", start), start],
    [assetPath("reference", "css", referenceStyle), referenceStyle],
    [assetPath("grpc", "css", grpcStyle), grpcStyle],
  ]);
  const page = referencePage({
    scriptPath: `${DOCS_BASE}/assets/scalar-${scalar.version}.js`,
    startPath: DOCS_BASE + assetPath("reference", "js", start),
    stylePath: DOCS_BASE + assetPath("reference", "css", referenceStyle),
    descriptionPath,
    grpcPath: `${DOCS_BASE}/grpc`,
  });
  const grpc = readText("grpc.html").replace(
    'href="grpc.css"',
    `href="${DOCS_BASE}${assetPath("grpc", "css", grpcStyle)}"`,
  );
  return new Map([
    ["/", htmlPage(DOCS_BASE, page, REFERENCE_POLICY)],
    ["/grpc", htmlPage(`${DOCS_BASE}/grpc`, grpc, TEXT_POLICY)],
    ...[...assets].map(([path, file]): [string, DocsFile] => [path, asset(file)]),
  ]);
}

function htmlPage(route: string, html: string, contentSecurityPolicy: string): DocsFile {
  const file = createTextFile("text/html; charset=utf-8", html);
  return { file, route, cacheControl: ALWAYS_ASK, contentSecurityPolicy };
}

function asset(file: StaticFile): DocsFile {
  const contentSecurityPolicy = NOTHING.join("; ");
  const route = `${DOCS_BASE}/assets/{name}`;
  return { file, route, cacheControl: FOR_GOOD, contentSecurityPolicy };
}

function assetPath(name: string, extension: string, { digest }: StaticFile): string {
  return `/assets/${name}-${digest.slice(0, 12)}.${extension}`;
}

function textAsset(name: string, contentType: string): StaticFile {
  return createTextFile(contentType, readText(name));
}

function readText(name: string): string {
  return readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");
}
