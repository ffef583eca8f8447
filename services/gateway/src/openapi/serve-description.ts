import { readFile } from "node:fs/promises";
import type { RequestHandler } from "express";
import type { AddressLimits } from "../http/address-limits.ts";
import { answerOptions, READING, wrongMethod } from "../http/methods.ts";
import { requestInfoOf } from "../http/request-info.ts";
import { sendStaticFile } from "../http/send-static-file.ts";
import { createTextFile } from "../http/static-file.ts";
import type { StaticFile } from "../http/static-file.ts";

/** The dependencies of the description. */
export interface DescriptionOptions {
  /** The path of the description, from the root. */
  descriptionPath: string;
  /** The limit of one client's requests. */
  limits: AddressLimits;
}

const FILE = new URL("../../openapi.json", import.meta.url);
/** The media type that the `Link` header announces (D8). */
const CONTENT_TYPE = "application/vnd.oai.openapi+json;version=3.1";
const CACHE_CONTROL = "public, max-age=300";

/**
 * Serves the description of the API. It is a file of the sources, which a test compares with the
 * route table, because building it takes half a second. The first request reads it.
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

/** The file is indented for people; the answer is not. */
async function load(): Promise<StaticFile> {
  const document: unknown = JSON.parse(await readFile(FILE, "utf8"));
  return createTextFile(CONTENT_TYPE, JSON.stringify(document));
}
