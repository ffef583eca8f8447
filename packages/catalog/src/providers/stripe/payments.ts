import { z } from "zod";
import { choice, flag, json, list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  amount,
  createdRange,
  currency,
  description,
  id,
  metadata,
  stripePages,
} from "./inputs.ts";

const createPaymentIntent: ActionManifest = {
  name: "createPaymentIntent",
  title: "Create a payment intent",
  description: "Begins a payment, and confirms it at once where asked to.",
  docs: "https://docs.stripe.com/api/payment_intents/create",
  inputs: [
    amount({ required: true }),
    currency({ required: true }),
    id("customer", "cus"),
    id("payment_method", "pm", { requiredWhen: { field: "confirm", value: true } }),
    list("allowed_payment_method_types", {
      title: "Allowed payment methods",
      description: "Such as card; without it what the dashboard allows",
      // A form cannot carry an empty list, and Stripe would allow all values.
      min: 1,
      notWith: ["automatic_payment_methods"],
    }),
    json("automatic_payment_methods", {
      description: "{enabled, allow_redirects: always or never}",
      schema: z.strictObject({
        enabled: z.boolean(),
        allow_redirects: z.enum(["always", "never"]).optional(),
      }),
    }),
    flag("confirm", { title: "Confirm at once" }),
    flag("off_session", {
      description: "The customer is not there to authenticate",
      visibleWhen: { field: "confirm", value: true },
    }),
    text("return_url", {
      schema: z.string().max(5000),
      title: "Return URL",
      description: "Where the customer goes after authenticating elsewhere",
      visibleWhen: { field: "confirm", value: true },
    }),
    choice("capture_method", ["automatic", "automatic_async", "manual"]),
    choice("setup_future_usage", ["off_session", "on_session"]),
    description,
    text("receipt_email"),
    text("statement_descriptor_suffix", { schema: z.string().max(22) }),
    metadata,
  ],
  // https://docs.stripe.com/changelog: refused since 2026-09-30.endive.
  renamed: { payment_method_types: "allowed_payment_method_types" },
  outputs: [
    "id",
    "object",
    "amount",
    "amount_capturable",
    "amount_received",
    "client_secret",
    "created",
    "currency",
    "customer",
    "description",
    "last_payment_error",
    "latest_charge",
    "livemode",
    "metadata",
    "next_action",
    "payment_method",
    "status",
  ],
  request: { method: "POST", path: "/v1/payment_intents" },
  example: { amount: 1099, currency: "usd", customer: "cus_NffrFeUfNV2Hib" },
};

const listCharges: ActionManifest = {
  name: "listCharges",
  title: "List charges",
  description: "Lists charges, the newest first.",
  docs: "https://docs.stripe.com/api/charges/list",
  inputs: [
    id("customer", "cus"),
    id("payment_intent", "pi"),
    text("transfer_group"),
    ...createdRange,
  ],
  outputs: ["charges", "hasMore"],
  request: { method: "GET", path: "/v1/charges" },
  paging: stripePages("charges"),
  readOnly: true,
  example: { customer: "cus_NffrFeUfNV2Hib" },
};

const createRefund: ActionManifest = {
  name: "createRefund",
  title: "Create a refund",
  description: "Refunds a charge or a payment intent, as a whole or in part.",
  docs: "https://docs.stripe.com/api/refunds/create",
  inputs: [
    id("payment_intent", "pi", { requiredWithout: ["charge"] }),
    id("charge", "ch"),
    amount({ description: "In the smallest unit; without it all that is left" }),
    choice("reason", [
      { id: "duplicate", label: "Duplicate" },
      { id: "fraudulent", label: "Fraudulent" },
      { id: "requested_by_customer", label: "Requested by the customer" },
    ]),
    metadata,
  ],
  outputs: [
    "id",
    "object",
    "amount",
    "balance_transaction",
    "charge",
    "created",
    "currency",
    "metadata",
    "payment_intent",
    "reason",
    "receipt_number",
    "status",
  ],
  request: { method: "POST", path: "/v1/refunds" },
  example: { payment_intent: "pi_3MtwBwLkdIwHu7ix28a3tqPa", amount: 500 },
};

const listPayouts: ActionManifest = {
  name: "listPayouts",
  title: "List payouts",
  description: "Lists payouts to the account's bank, the newest first.",
  docs: "https://docs.stripe.com/api/payouts/list",
  inputs: [
    choice("status", ["pending", "paid", "failed", "canceled"]),
    text("destination", { description: "The bank account or card: ba_… or card_…" }),
    ...createdRange,
  ],
  outputs: ["payouts", "hasMore"],
  request: { method: "GET", path: "/v1/payouts" },
  paging: stripePages("payouts"),
  readOnly: true,
  example: { status: "paid" },
};

const listBalanceTransactions: ActionManifest = {
  name: "listBalanceTransactions",
  title: "List balance transactions",
  description: "Lists what moved the balance, with fees: what a payout is made of.",
  docs: "https://docs.stripe.com/api/balance_transactions/list",
  inputs: [
    id("payout", "po"),
    text("source", { description: "The object it came from: ch_…, re_…" }),
    text("type", { description: "Such as charge, refund, stripe_fee" }),
    currency(),
    ...createdRange,
  ],
  outputs: ["balance_transactions", "hasMore"],
  request: { method: "GET", path: "/v1/balance_transactions" },
  paging: stripePages("balance_transactions"),
  readOnly: true,
  example: { payout: "po_1OaFDbEcg9tTZuTgNYmX0PKB" },
};

export const paymentActions = [
  createPaymentIntent,
  listCharges,
  createRefund,
  listPayouts,
  listBalanceTransactions,
];
