import type { ProviderCases } from "../action-case.ts";
import { contacts } from "./contacts.ts";
import { dealsAndTickets } from "./deals-and-tickets.ts";
import { objects } from "./objects.ts";

export const hubspotCases: ProviderCases = {
  provider: "hubspot",
  fields: {},
  credentials: { accessToken: "CJ-canary", refreshToken: "na1-canary" },
  signature: { headers: { authorization: "Bearer CJ-canary" } },
  cases: [...contacts, ...dealsAndTickets, ...objects],
};
