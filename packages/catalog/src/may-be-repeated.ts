import type { ActionManifest, ProviderManifest } from "./provider-manifest.ts";

/**
 * Whether a second call is harmless while the result of the first is unknown. Such an action only reads, sets
 * a state, or has an idempotency key.
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
