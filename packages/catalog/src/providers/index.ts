import type { ActionManifest, ProviderManifest } from "../provider-manifest.ts";
import { airwallex } from "./airwallex/airwallex.ts";
import { avalara } from "./avalara/avalara.ts";
import { docusign } from "./docusign/docusign.ts";
import { finance } from "./finance.ts";
import { github } from "./github.ts";
import { googleMail } from "./google-mail/google-mail.ts";
import { hubspot } from "./hubspot/hubspot.ts";
import { netsuite } from "./netsuite/netsuite.ts";
import { odoo } from "./odoo/odoo.ts";
import { plaid } from "./plaid.ts";
import { quickbooks } from "./quickbooks/quickbooks.ts";
import { resend } from "./resend.ts";
import { rillet } from "./rillet/rillet.ts";
import { salesforce } from "./salesforce/salesforce.ts";
import { sendgrid } from "./sendgrid.ts";
import { slack } from "./slack/slack.ts";
import { stripe } from "./stripe/stripe.ts";

/** All providers (D37). A new manifest needs one line here. */
export const PROVIDERS: readonly ProviderManifest[] = [
  airwallex,
  avalara,
  docusign,
  finance,
  github,
  googleMail,
  hubspot,
  netsuite,
  odoo,
  plaid,
  quickbooks,
  resend,
  rillet,
  salesforce,
  sendgrid,
  slack,
  stripe,
];

const byId = new Map(PROVIDERS.map((provider) => [provider.id, provider]));

/** The provider of this id, or undefined. */
export function findProvider(id: string): ProviderManifest | undefined {
  return byId.get(id);
}

/** The action of an id such as `stripe.createCustomer`, with its provider; or undefined. */
export function findProviderAction(
  id: string,
): { provider: ProviderManifest; action: ActionManifest } | undefined {
  const dot = id.indexOf(".");
  const provider = byId.get(id.slice(0, dot));
  const action = provider?.actions.find(({ name }) => name === id.slice(dot + 1));
  return provider === undefined || action === undefined ? undefined : { provider, action };
}
