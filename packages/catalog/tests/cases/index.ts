import type { ProviderCases } from "./action-case.ts";
import { airwallexCases } from "./airwallex/airwallex.ts";
import { avalaraCases } from "./avalara.ts";
import { docusignCases } from "./docusign/docusign.ts";
import { githubCases } from "./github/github.ts";
import { googleMailCases } from "./google-mail/google-mail.ts";
import { hubspotCases } from "./hubspot/hubspot.ts";
import { netsuiteCases } from "./netsuite.ts";
import { odooCases } from "./odoo/odoo.ts";
import { plaidCases } from "./plaid.ts";
import { quickbooksCases } from "./quickbooks/quickbooks.ts";
import { resendCases } from "./resend.ts";
import { rilletCases } from "./rillet.ts";
import { salesforceCases } from "./salesforce.ts";
import { sendgridCases } from "./sendgrid.ts";
import { slackCases } from "./slack.ts";
import { stripeCases } from "./stripe/stripe.ts";

/** The cases of every provider. */
export const PROVIDER_CASES: readonly ProviderCases[] = [
  airwallexCases,
  avalaraCases,
  docusignCases,
  githubCases,
  googleMailCases,
  hubspotCases,
  netsuiteCases,
  odooCases,
  plaidCases,
  quickbooksCases,
  resendCases,
  rilletCases,
  salesforceCases,
  sendgridCases,
  slackCases,
  stripeCases,
];
