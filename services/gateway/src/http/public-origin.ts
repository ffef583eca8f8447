import { AppError } from "@workflow/errors";
import { ownOriginOf } from "./own-origin.ts";
import type { CalledServer } from "./own-origin.ts";

/**
 * Where people and providers reach this gateway: the operator's PUBLIC_URL, else what the request itself
 * names. The caller gets it back in an address of its own making, so it may as well have named it.
 *
 * @param publicUrl without a slash at the end
 */
export function publicOriginOf(called: CalledServer, publicUrl: string | undefined): string {
  const origin = publicUrl ?? ownOriginOf(called);
  if (origin !== null) return origin;
  throw new AppError("BAD_REQUEST", "The Host header names no host.");
}
