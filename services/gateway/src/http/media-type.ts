import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@workflow/errors";

/** The forms of bodies that the API takes. */
const MEDIA_TYPES = {
  json: {
    pattern: /^application\/(?:json|[\w!#$&^.+-]+\+json)$/,
    wanted: "JSON, with Content-Type: application/json",
  },
  csv: { pattern: /^text\/csv$/, wanted: "CSV, with Content-Type: text/csv" },
} as const;

export type BodyForm = keyof typeof MEDIA_TYPES;

/**
 * @throws AppError UNSUPPORTED_MEDIA_TYPE unless a body is said to be of this form, plain and in
 * UTF-8 (D4)
 */
export function checkMediaType(headers: IncomingHttpHeaders, form: BodyForm): void {
  const { pattern, wanted } = MEDIA_TYPES[form];
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw unsupported("The request body must not be compressed.");
  }
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";");
  if (!pattern.test(type.trim().toLowerCase())) {
    throw unsupported(`The request body must be ${wanted}.`);
  }
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8") {
      throw unsupported("The request body must be encoded in UTF-8.");
    }
  }
}

function unsupported(message: string): AppError {
  return new AppError("UNSUPPORTED_MEDIA_TYPE", message);
}
