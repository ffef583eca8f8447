import type { ActionManifest, ProviderManifest } from "./provider-manifest.ts";

/**
 * Whether a second call changes nothing although nobody knows what became of the first: the action only
 * reads, says what is to be, or has a key that makes both one.
 */
export function mayBeRepeated(
  provider: Pick<ProviderManifest, "idempotencyHeader" | "idempotencyQuery">,
  { readOnly, request }: Pick<ActionManifest, "readOnly" | "request">,
): boolean {
  return (
    readOnly === true ||
    IDEMPOTENT_METHODS.includes(request.method) ||
    request.idempotencyMember !== undefined ||
    provider.idempotencyHeader !== undefined ||
    provider.idempotencyQuery !== undefined
  );
}

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT_METHODS: readonly string[] = ["GET", "PUT", "DELETE"];
