import { readFile } from "node:fs/promises";
import type { RequestHandler } from "express";
import type { AddressLimits } from "../http/address-limits.ts";
import { answerOptions, READING, wrongMethod } from "../http/methods.ts";
import { requestInfoOf } from "../http/request-info.ts";
import { sendStaticFile } from "../http/send-static-file.ts";
import { createTextFile } from "../http/static-file.ts";
import type { StaticFile } from "../http/static-file.ts";

/** What the description needs. */
export interface DescriptionOptions {
  /** Where it is served, from the root. */
  descriptionPath: string;
  /** How often one client may ask for it. */
  limits: AddressLimits;
}

const FILE = new URL("../../openapi.json", import.meta.url);
/** As D8 announces it in the `Link` header. */
const CONTENT_TYPE = "application/vnd.oai.openapi+json;version=3.1";
const CACHE_CONTROL = "public, max-age=300";

/**
 * Serves the description of the API. It is a file of the sources that a test holds to the route table, for
 * making it takes half a second; it is read when it is asked for first.
 */
export function serveDescription({ descriptionPath, limits }: DescriptionOptions): RequestHandler {
  let file: Promise<StaticFile> | undefined;
  return async (request, response) => {
    const info = requestInfoOf(request);
    info.route = descriptionPath;
    if (request.method === "OPTIONS") return answerOptions(response, READING);
    if (!READING.includes(request.method)) throw wrongMethod(response, READING);
    limits.admit(info.client.ipAddress);
    file ??= load();
    await sendStaticFile(await file, request, response, () => {
      response.setHeader("Cache-Control", CACHE_CONTROL);
    });
  };
}

/** Without the spaces that are there for people. */
async function load(): Promise<StaticFile> {
  const document: unknown = JSON.parse(await readFile(FILE, "utf8"));
  return createTextFile(CONTENT_TYPE, JSON.stringify(document));
}
