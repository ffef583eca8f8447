import type { ActionManifest, ProviderManifest } from "./provider-manifest.ts";

/**
 * Whether a second call changes nothing although nobody knows what became of the first: the action only
 * reads, says what is to be, or has a key that makes both one.
 */
export function mayBeRepeated(
  provider: Pick<ProviderManifest, "idempotencyHeader" | "idempotencyQuery">,
  { readOnly, request }: Pick<ActionManifest, "readOnly" | "request">,
): boolean {
  const { method, idempotencyMember, ignoresIdempotencyKey = false } = request;
  const { idempotencyHeader, idempotencyQuery } = provider;
  const knowsKeys = idempotencyHeader !== undefined || idempotencyQuery !== undefined;
  return (
    readOnly === true ||
    IDEMPOTENT_METHODS.includes(method) ||
    idempotencyMember !== undefined ||
    (knowsKeys && !ignoresIdempotencyKey)
  );
}

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT_METHODS: readonly string[] = ["GET", "PUT", "DELETE"];
