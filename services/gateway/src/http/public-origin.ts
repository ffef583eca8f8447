import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";

/**
 * Where people and providers reach this gateway: the operator's PUBLIC_URL, else what the request itself
 * names. The caller gets it back in an address of its own making, so it may as well have named it.
 *
 * @param publicUrl without a slash at the end
 */
export function publicOriginOf(
  { headers: { host } }: IncomingMessage,
  isSecure: boolean,
  publicUrl: string | undefined,
): string {
  if (publicUrl !== undefined) return publicUrl;
  const origin = `${isSecure ? "https" : "http"}://${host ?? ""}`;
  if (host !== undefined && URL.canParse(origin)) return new URL(origin).origin;
  throw new AppError("BAD_REQUEST", "The Host header names no host.");
}
