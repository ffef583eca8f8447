import { createHash } from "node:crypto";
import { isUuid } from "@workflow/db";
import { DEFINITION_LIMITS, foldWebhookPath } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import { isJsonProblem, isStorableText, scanJsonObject } from "@workflow/json";
import type { InboundContext } from "./inbound-context.ts";
import type { InboundRequest, InboundRoute } from "./inbound-request.ts";
import { requirePlainBody } from "./request-type.ts";

const PROVIDER = "custom";
const PAYLOAD_BYTES_MAX = 1024 * 1024;
const TRIGGER_BYTES_MAX = 256 * 1024;
const KEY_CHARS_MAX = 255;
const decoder = new TextDecoder("utf-8", { fatal: true });
const KEY_HEADERS = ["idempotency-key", "x-event-id"];
/** Headers whose names suggest credentials (D40a). Signatures are kept: a workflow may want to check them. */
const CREDENTIAL =
  /authoriz|authentic|(?:^|[-_])auth(?:$|[-_])|bearer|cookie|credential|jwt|passw|(?:api|access|private)[-_]?key|secret|session|token/;
/** Headers that proxies have added. */
const OF_THE_WAY =
  /^(?:forwarded|x-forwarded-.*|x-real-ip|via|connection|keep-alive|transfer-encoding|te|upgrade|expect)$/;

/** Accepts any request that is posted to a path of a company. The path is the secret. */
export function createCustomRoute({ intake }: Pick<InboundContext, "intake">): InboundRoute {
  return async (request) => {
    const { companyId, path } = parsePath(request.path);
    requirePlainBody(request);
    const externalEventId = findKey(request);
    const accepted = await intake.accept({
      provider: PROVIDER,
      receivers: { companyIds: [companyId] },
      path,
      eventType: null,
      externalEventId,
      repeatKey: externalEventId === null ? null : repeatKeyOf(path, externalEventId),
      payloadJson: toPayload(request),
      payloadBytes: request.rawBody.length,
      trigger: toTrigger(request, path),
      signature: "skipped",
      requestId: request.requestId,
      traceparent: request.traceparent,
    });
    return { status: 200, body: { received: true, ...accepted } };
  };
}

/** @throws AppError NOT_FOUND for a path that no workflow can wait for */
function parsePath(encoded: string): { companyId: string; path: string } {
  const [, companyId = "", segment = "", ...others] = encoded.split("/");
  let path = "";
  try {
    path = decodeURIComponent(segment);
  } catch {
    // A path that cannot be decoded is refused like an empty one.
  }
  const isPath =
    path !== "" && path.length <= DEFINITION_LIMITS.webhookPathCharsMax && isStorableText(path);
  if (!isUuid(companyId) || !isPath || others.length > 0) {
    throw new AppError("NOT_FOUND", "Not found");
  }
  return { companyId: companyId.toLowerCase(), path };
}

/**
 * The sender's id of the event (D41).
 *
 * @throws AppError BAD_REQUEST for an id that cannot be stored
 */
function findKey({ headers }: InboundRequest): string | null {
  for (const name of KEY_HEADERS) {
    const [key, ...others] = headers.get(name) ?? [];
    if (key === undefined) continue;
    if (others.length > 0 || key === "" || key.length > KEY_CHARS_MAX) {
      const message = `The header ${name} must be sent once, with 1 to ${KEY_CHARS_MAX} characters.`;
      throw new AppError("BAD_REQUEST", message);
    }
    return key;
  }
  return null;
}

/** A sender's ids hold for its path, so that a sender on another path cannot claim them. */
function repeatKeyOf(path: string, externalEventId: string): string {
  const named = JSON.stringify([foldWebhookPath(path), externalEventId]);
  return createHash("sha256").update(named).digest("base64url");
}

/** The body if it is JSON that can be an input, else its text (D40a). */
function toPayload(request: InboundRequest): string {
  const text = readText(request);
  if (text.trim() === "") return "{}";
  const scanned = scanJsonObject(text);
  const isJson = !isJsonProblem(scanned) || scanned.kind === "type";
  const payload = isJson ? text : JSON.stringify({ rawBody: text });
  if (Buffer.byteLength(payload) <= PAYLOAD_BYTES_MAX) return payload;
  throw new AppError("PAYLOAD_TOO_LARGE", "The request body has more than 1 MiB as a JSON text.");
}

/**
 * Decodes a body.
 *
 * @throws AppError BAD_REQUEST for bytes that are no text, or text that cannot be stored (D2)
 */
function readText({ rawBody }: InboundRequest): string {
  let text: string;
  try {
    text = decoder.decode(rawBody);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "The request body is not valid UTF-8.", { cause: error });
  }
  if (isStorableText(text)) return text;
  throw new AppError("BAD_REQUEST", "The request body must not contain NUL characters.");
}

function toTrigger({ headers, query }: InboundRequest, path: string) {
  const told = [...headers].filter(([name]) => !CREDENTIAL.test(name) && !OF_THE_WAY.test(name));
  const names = new Set(query.keys());
  const trigger = {
    path,
    headers: Object.fromEntries(told.map(([name, values]) => [name, values.join(", ")])),
    query: Object.fromEntries(Array.from(names, (name) => [name, oneOrAll(query.getAll(name))])),
  };
  const text = JSON.stringify(trigger);
  if (text.includes("\\u0000")) {
    throw new AppError("BAD_REQUEST", "The query must not contain NUL characters.");
  }
  if (Buffer.byteLength(text) > TRIGGER_BYTES_MAX) {
    throw new AppError("BAD_REQUEST", "The headers and the query have more than 256 KiB together.");
  }
  return trigger;
}

function oneOrAll(values: string[]): string | string[] {
  const [only, ...others] = values;
  return only !== undefined && others.length === 0 ? only : values;
}
