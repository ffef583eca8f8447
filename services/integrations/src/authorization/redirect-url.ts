import { AppError } from "@workflow/errors";

const LENGTH_MAX = 2_048;

/**
 * The address for a person after an attempt: absolute, http or https, without user and password.
 *
 * @throws AppError BAD_REQUEST naming the parameter
 */
export function parseRedirectUrl(text: string): string {
  const url = text.length > LENGTH_MAX ? null : URL.parse(text);
  const isHttp = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  // The parser drops tabs and line breaks and reads a backslash as a slash. Other programs may not, so
  // such URLs are refused.
  const isPlain = /^https?:\/\/[^/][!-[\]-~\u00A0-\uFFFF]*$/i.test(text);
  if (isHttp && isPlain && url.username === "" && url.password === "") return url.href;
  const message = `must be an http or https URL of at most ${LENGTH_MAX} characters`;
  throw new AppError("BAD_REQUEST", `The request is not valid: redirectUrl ${message}.`, {
    violations: [{ path: ["redirectUrl"], message }],
  });
}

/**
 * The public origin of the gateway.
 *
 * @throws AppError BAD_REQUEST
 */
export function parsePublicOrigin(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (url !== null && isHttp && text.length <= LENGTH_MAX) return text.replace(/\/+$/, "");
  const message = "must be an http or https URL";
  throw new AppError("BAD_REQUEST", `The request is not valid: publicOrigin ${message}.`, {
    violations: [{ path: ["publicOrigin"], message }],
  });
}
