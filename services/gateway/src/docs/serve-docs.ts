import type { Request, RequestHandler } from "express";
import type { AddressLimits } from "../http/address-limits.ts";
import { answerOptions, READING, wrongMethod } from "../http/methods.ts";
import { requestInfoOf } from "../http/request-info.ts";
import { sendStaticFile } from "../http/send-static-file.ts";
import { openDocsFiles } from "./docs-files.ts";
import { protectPage } from "./protect-page.ts";

/** The dependencies of the references. */
export interface DocsOptions {
  /** The path of the OpenAPI document, from the root. */
  descriptionPath: string;
  /** The limit of one client's requests for pages and their parts. */
  limits: AddressLimits;
}

/**
 * Serves the references of the API to everybody. All parts come from this origin and are sent from
 * memory; requests for the same bytes share one buffer.
 */
export function serveDocs({ descriptionPath, limits }: DocsOptions): RequestHandler {
  const { files, missing } = openDocsFiles(descriptionPath);
  return async (request, response, next) => {
    const found = files.get(request.path);
    // Programs get the API's own answer.
    if (found === undefined && !isReader(request)) return next();
    const docsFile = found ?? missing;
    const info = requestInfoOf(request);
    info.route = docsFile.route;
    if (request.method === "OPTIONS") return answerOptions(response, READING);
    if (!READING.includes(request.method)) throw wrongMethod(response, READING);
    limits.admit(info.client.ipAddress);
    const { file, cacheControl, contentSecurityPolicy } = docsFile;
    await sendStaticFile(file, request, response, () => {
      protectPage(response, contentSecurityPolicy);
      response.setHeader("Cache-Control", cacheControl);
      if (found === undefined) response.status(404).vary("Accept");
    });
  };
}

/** Whether a person's browser requests a page. */
function isReader(request: Request): boolean {
  return READING.includes(request.method) && request.accepts(["json", "html"]) === "html";
}
