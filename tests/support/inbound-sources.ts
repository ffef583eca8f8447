import { createHmac } from "node:crypto";
import { newUuid } from "@workflow/db";

/** Names and values of headers. */
export type Headers = Readonly<Record<string, string>>;

/** A sender of inbound webhooks. */
export interface InboundSource {
  /** The path as the description of the API has it. */
  route: string;
  path: string;
  /** The provider whose connections own the events; null where no connection counts. */
  provider: string | null;
  /** A good event of an account. Each call makes another one. */
  event: (account: string) => object;
  /** The headers that sign a body; none where nothing is signed. */
  sign: (body: string) => Headers;
  /** The answer to a body that is no JSON object; null where each text is taken. */
  unreadable: string | null;
}

const RESEND_KEY = Buffer.from("a secret of resend");

/** The installation's secrets that the sources sign with. */
export const INBOUND_SECRETS = {
  stripe: "stripe-secret",
  resend: `whsec_${RESEND_KEY.toString("base64")}`,
  nango: "nango-secret",
  airwallex: "airwallex-secret",
  hubspot: "hubspot-secret",
  finance: "finance-secret",
};

const DISPATCHER = "/webhooks/{provider}";

/**
 * Every sender that the service knows.
 *
 * @param origin where the routes are; HubSpot signs the address
 * @param customPath `<companyId>/<path>` of a workflow's trigger
 */
export function inboundSources(origin: string, customPath: string): InboundSource[] {
  return [
    {
      route: "/webhooks/custom/{companyId}/{path}",
      path: `/webhooks/custom/${customPath}`,
      provider: null,
      event: () => ({ order: newUuid(), lines: [{ sku: "a", count: 2 }] }),
      sign: () => ({}),
      unreadable: null,
    },
    {
      route: "/webhooks/stripe",
      path: "/webhooks/stripe",
      provider: "stripe",
      event: (account) => ({ id: newUuid(), type: "charge.succeeded", account, data: { n: 1 } }),
      sign: (body) => ({ "stripe-signature": timed(INBOUND_SECRETS.stripe, body) }),
      unreadable: "Invalid JSON",
    },
    {
      route: "/webhooks/resend",
      path: "/webhooks/resend",
      provider: "resend",
      event: (account) => ({ type: "email.received", data: { to: [`orders@${account}`] } }),
      sign: signAsResend,
      unreadable: "Invalid JSON",
    },
    {
      route: "/webhooks/nango",
      path: "/webhooks/nango",
      provider: null,
      event: () => ({
        type: "forward",
        from: "slack",
        connectionId: newUuid(),
        providerConfigKey: "slack",
        endUser: { endUserId: "1" },
        payload: { type: "message", event_id: newUuid() },
      }),
      sign: (body) => ({ "x-nango-hmac-sha256": hmac(INBOUND_SECRETS.nango, body) }),
      unreadable: "Invalid JSON",
    },
    ...dispatched(origin),
  ];
}

function dispatched(origin: string): InboundSource[] {
  const unreadable = "Invalid payload";
  return [
    {
      route: DISPATCHER,
      path: "/webhooks/airwallex",
      provider: "airwallex",
      event: (account) => ({ id: newUuid(), name: "paid", account_id: account, data: { n: 1 } }),
      sign: (body) => {
        const at = String(Date.now());
        return { "x-timestamp": at, "x-signature": hmac(INBOUND_SECRETS.airwallex, at + body) };
      },
      unreadable,
    },
    {
      route: DISPATCHER,
      path: "/webhooks/hubspot",
      provider: "hubspot",
      event: (account) => ({ eventId: newUuid(), subscriptionType: "made", portalId: account }),
      sign: (body) => {
        const at = String(Date.now());
        const signed = `POST${origin}/webhooks/hubspot${body}${at}`;
        const signature = hmac(INBOUND_SECRETS.hubspot, signed, "base64");
        return { "x-hubspot-request-timestamp": at, "x-hubspot-signature-v3": signature };
      },
      unreadable,
    },
    {
      route: DISPATCHER,
      path: "/webhooks/finance",
      provider: "finance",
      event: (account) => ({ id: newUuid(), type: "paid", externalAccountId: account, data: {} }),
      sign: (body) => ({ "x-finance-signature": timed(INBOUND_SECRETS.finance, body) }),
      unreadable,
    },
  ];
}

function signAsResend(body: string): Headers {
  const [id, time] = [`msg_${newUuid()}`, String(seconds())];
  const digest = createHmac("sha256", RESEND_KEY).update(`${id}.${time}.${body}`).digest("base64");
  return { "svix-id": id, "svix-timestamp": time, "svix-signature": `v1,${digest}` };
}

function timed(secret: string, body: string): string {
  const time = seconds();
  return `t=${time},v1=${hmac(secret, `${time}.${body}`)}`;
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

function hmac(secret: string, text: string, encoding: "hex" | "base64" = "hex"): string {
  return createHmac("sha256", secret).update(text).digest(encoding);
}
