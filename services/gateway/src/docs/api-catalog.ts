import { createHash } from "node:crypto";
import type { RequestHandler } from "express";
import { isNotModified } from "../http/entity-tags.ts";
import { answerOptions, READING, wrongMethod } from "../http/methods.ts";
import { requestInfoOf } from "../http/request-info.ts";

/** The path where machines look for the APIs of an origin (RFC 9727). */
export const API_CATALOG_PATH = "/.well-known/api-catalog";

const CONTENT_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** The targets of the catalog. */
export interface ApiCatalogOptions {
  /** The gateway's address; without it links are relative to the catalog's own address. */
  publicUrl: string | undefined;
  apiBase: string;
  descriptionPath: string;
  /** The first page for people, and the page with every operation. */
  docsPaths: readonly string[];
  statusPath: string;
}

/**
 * Answers the catalog: this origin's one API, and where it is described. Everybody may read it. It
 * contains nothing of the request: a false `Host` would send the readers of a cache elsewhere.
 */
export function serveApiCatalog(options: ApiCatalogOptions): RequestHandler {
  const text = JSON.stringify(linksetOf(options));
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  return (request, response) => {
    const info = requestInfoOf(request);
    info.route = API_CATALOG_PATH;
    if (request.method === "OPTIONS") return answerOptions(response, READING);
    if (!READING.includes(request.method)) throw wrongMethod(response, READING);
    response.setHeader("ETag", etag);
    response.setHeader("Cache-Control", "no-cache");
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (isNotModified(request, etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader("Content-Type", CONTENT_TYPE);
    response.setHeader("Content-Length", Buffer.byteLength(text));
    response.end(text);
  };
}

/** A linkset (RFC 9264, section 4.2) with the relations of RFC 8631. */
function linksetOf(options: ApiCatalogOptions): object {
  const { publicUrl: origin = "", apiBase, descriptionPath, docsPaths, statusPath } = options;
  const api = origin + apiBase;
  return {
    linkset: [
      { anchor: origin + API_CATALOG_PATH, item: [{ href: api }] },
      {
        anchor: api,
        "service-desc": [
          {
            href: origin + descriptionPath,
            type: "application/vnd.oai.openapi+json;version=3.1",
          },
        ],
        "service-doc": docsPaths.map((path) => ({ href: origin + path, type: "text/html" })),
        status: [{ href: origin + statusPath, type: "application/json" }],
      },
    ],
  };
}
