import { AppError } from "@workflow/errors";
import { ownOriginOf } from "./own-origin.ts";
import type { CalledServer } from "./own-origin.ts";

/**
 * The public address of this gateway: the operator's PUBLIC_URL, else the host that the request
 * names. Only the caller itself gets such an address back, so a made-up host harms nobody else.
 *
 * @param publicUrl without a trailing slash
 */
export function publicOriginOf(called: CalledServer, publicUrl: string | undefined): string {
  const origin = publicUrl ?? ownOriginOf(called);
  if (origin !== null) return origin;
  throw new AppError("BAD_REQUEST", "The Host header names no host.");
}
