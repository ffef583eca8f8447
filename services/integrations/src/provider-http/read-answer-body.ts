import type { SafeResponse } from "@workflow/http-client";
import { NESTING_MAX } from "@workflow/json";
import { ProviderCallError } from "./provider-call-error.ts";

/**
 * The JSON of an answer; null without a body. The body of a failure that is not JSON is null as well:
 * proxies in front of a provider describe failures in HTML, and the status says enough.
 *
 * @throws ProviderCallError INVALID_ANSWER
 */
export function readAnswerBody({ status, headers, body }: SafeResponse): unknown {
  const text = decodeUtf8(body)?.trim();
  if (text === "") return null;
  const value = text === undefined ? undefined : parseJson(text);
  if (value !== undefined) return value;
  if (status < 200 || status > 299) return null;
  const type =
    String(headers["content-type"] ?? "")
      .split(";")[0]
      ?.trim()
      .toLowerCase() ?? "";
  // The message repeats only a well-formed type, since a header may contain any text.
  const shown = /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,60}$/.test(type) ? ` but ${type}` : "";
  const what = JSON_TYPE.test(type) || shown === "" ? "is not valid JSON" : `is not JSON${shown}`;
  const message = `The provider answered ${status}, but its answer ${what}.`;
  throw new ProviderCallError("INVALID_ANSWER", message, { sent: true, status });
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;

function decodeUtf8(body: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Undefined for text that is no JSON or is nested too deeply (D2). */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return nestsTooDeep(value, NESTING_MAX) ? undefined : value;
  } catch {
    return undefined;
  }
}

function nestsTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => nestsTooDeep(item, levels - 1));
}
