import { isJsonObject } from "@workflow/json";
import { readPath } from "../../json-path.ts";
import type { ProviderAnswer } from "../../provider-manifest.ts";

type Part = Readonly<Record<string, unknown>>;

/** A depth that no mail program reaches; a message's sender chooses its depth. */
const PARTS_DEPTH_MAX = 50;

/**
 * Gmail's message with its payload read: `headers` by lower-case name (the first of several), `text` and
 * `html` decoded, and `attachments` by the ids that `getAttachment` takes. Other formats stay as they are.
 */
export function readMessage({ body }: ProviderAnswer): unknown {
  if (!isJsonObject(body) || !isJsonObject(body["payload"])) return body;
  const { payload, ...rest } = body;
  const parts = partsOf(payload);
  return {
    ...rest,
    headers: headersOf(payload),
    text: bodyOf(parts, "text/plain"),
    html: bodyOf(parts, "text/html"),
    attachments: parts.filter(isFile).map((part) => ({
      attachmentId: readPath(part, "body.attachmentId") ?? null,
      filename: part["filename"],
      contentType: part["mimeType"] ?? null,
      size: readPath(part, "body.size") ?? null,
    })),
  };
}

/** An attachment's bytes in plain base64, as inputs for attachments expect; Gmail gives base64url. */
export function readAttachment({ body }: ProviderAnswer): unknown {
  const data = readPath(body, "data");
  return {
    size: readPath(body, "size") ?? null,
    content: typeof data === "string" ? Buffer.from(data, "base64url").toString("base64") : "",
  };
}

function partsOf(part: unknown, depth = 0): Part[] {
  if (!isJsonObject(part) || depth > PARTS_DEPTH_MAX) return [];
  const parts: unknown = part["parts"];
  const below = Array.isArray(parts) ? parts.flatMap((each) => partsOf(each, depth + 1)) : [];
  return [part, ...below];
}

function headersOf(payload: unknown): Record<string, unknown> {
  const headers = readPath(payload, "headers");
  const entries = (Array.isArray(headers) ? headers : []).flatMap((header) => {
    const name = readPath(header, "name");
    return typeof name === "string" ? [[name.toLowerCase(), readPath(header, "value")]] : [];
  });
  return Object.fromEntries(entries.toReversed());
}

function isFile({ filename }: Part): boolean {
  return typeof filename === "string" && filename !== "";
}

/** The first part of this type that is no attachment. Gmail has decoded the text to UTF-8. */
function bodyOf(parts: readonly Part[], mimeType: string): string | null {
  const part = parts.find((each) => each["mimeType"] === mimeType && !isFile(each));
  const data = readPath(part, "body.data");
  return typeof data === "string" ? Buffer.from(data, "base64url").toString("utf8") : null;
}
