import { HttpClientError } from "@workflow/http-client";
import type { SafeHttpClient } from "@workflow/http-client";
import { wrongField } from "./wrong-field.ts";

const URL_CHARS_MAX = 2_048;

/**
 * Checks the URL of a receiver and returns it unchanged. Each delivery checks the host again, by its
 * addresses at that time.
 *
 * @throws AppError BAD_REQUEST
 */
export function checkUrl(http: SafeHttpClient, url: string): string {
  if (url.length > URL_CHARS_MAX) {
    throw wrongField("url", `must have at most ${URL_CHARS_MAX} characters`);
  }
  // The parser of URLs drops tabs and line ends wherever they stand: nobody means a URL with them.
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\0-\x20\x7f]/.test(url)) {
    throw wrongField("url", "must not contain spaces or control characters");
  }
  try {
    http.checkUrl(url);
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error;
    throw wrongField("url", `is not allowed: ${error.message.replace(/\.$/, "")}`);
  }
  if (URL.parse(url)?.port === "0") throw wrongField("url", "must not have the port 0");
  return url;
}
