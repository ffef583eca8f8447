import type { ProviderManifest } from "../../provider-manifest.ts";
import { billingActions } from "./billing.ts";
import { customerActions } from "./customers.ts";
import { paymentActions } from "./payments.ts";

/** Payments and billing; an account that is connected to our platform (Stripe Connect). */
export const stripe: ProviderManifest = {
  id: "stripe",
  name: "Stripe",
  description: "Customers, payments, invoices, subscriptions and payouts.",
  category: "payments",
  docs: "https://docs.stripe.com/api",
  baseUrl: "https://api.stripe.com",
  hosts: ["api.stripe.com", "files.stripe.com"],
  // https://docs.stripe.com/connect/oauth-reference
  auth: {
    kind: "oauth",
    authorizeUrl: "https://connect.stripe.com/oauth/authorize",
    tokenUrl: "https://connect.stripe.com/oauth/token",
    revokeUrl: "https://connect.stripe.com/oauth/deauthorize",
    revokeRequest: {
      headers: { authorization: "Bearer {clientSecret}" },
      bodyType: "form",
      body: { client_id: "{clientId}", stripe_user_id: "{accountId}" },
    },
    scopes: ["read_write"],
    pkce: false,
    tokenAuth: "client_secret_post",
    tokenFields: { accountId: "stripe_user_id" },
    accountField: "accountId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  headers: { "stripe-version": "2026-10-28.endive" },
  bodyType: "form",
  idempotencyHeader: "Idempotency-Key",
  verify: { method: "GET", path: "/v1/account", accountId: "id" },
  errors: {
    code: ["error.code", "error.type"],
    message: ["error.message"],
    // The idempotency key is in use: the first attempt of this write is still running.
    retryableCodes: ["idempotency_key_in_use", "lock_timeout"],
    credentialCodes: ["api_key_expired"],
  },
  // https://docs.stripe.com/rate-limits#object-lock-timeouts: the object is busy, not the account.
  rateLimit: { codes: ["rate_limit"], objectCodes: ["lock_timeout"] },
  actions: [...customerActions, ...paymentActions, ...billingActions],
};
