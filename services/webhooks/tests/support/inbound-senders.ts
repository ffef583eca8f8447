import { createHmac } from "node:crypto";
import { newUuid } from "@workflow/db";
import type { ProviderHarness } from "./provider-harness.ts";

/** Headers of a request; a name may occur several times. */
export type Headers = (readonly [string, string])[];

/** The answer to a request that is not signed as it must be. */
export const INVALID = { status: 401, body: { error: "Invalid signature" } };

/** Forgets the connections and events of earlier cases. */
export function forgetAll(harness: ProviderHarness): void {
  harness.connections.length = 0;
  harness.started.length = 0;
  harness.reports.length = 0;
  harness.syncs.length = 0;
  harness.reportError = null;
}

/** Connects an account to a new company, whose id it returns. */
export function connectAccount(
  { connections }: ProviderHarness,
  provider: string,
  externalAccountId: string,
  more: object = {},
): string {
  const companyId = newUuid();
  const connection = { connectionId: newUuid(), companyId, provider, externalAccountId };
  connections.push({ ...connection, status: "active", ...more });
  return companyId;
}

export function hmac(secret: string, text: string, encoding: "hex" | "base64" = "hex"): string {
  return createHmac("sha256", secret).update(text).digest(encoding);
}
