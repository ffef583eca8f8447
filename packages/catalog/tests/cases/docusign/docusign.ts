import type { ProviderCases } from "../action-case.ts";
import { ACCOUNT, ENVELOPE, PATH } from "./envelope.ts";
import { sending } from "./sending.ts";
import { reading } from "./reading.ts";

/** Error codes as the reference spells them and as answers do, with the wait. */
const ENVELOPE_LIMITS = [
  ["Hourly_Envelope_Polling_Limit_Exceeded", 60_000],
  ["HOURLY_ENVELOPE_POLLING_LIMIT_EXCEEDED", 60_000],
  ["BURST_ENVELOPE_POLLING_LIMIT_EXCEEDED", 30_000],
  ["HOURLY_APIINVOCATION_ENVELOPE_LIMIT_EXCEEDED", 60_000],
  ["BURST_APIINVOCATION_ENVELOPE_LIMIT_EXCEEDED", 30_000],
] as const;

export const docusignCases: ProviderCases = {
  provider: "docusign",
  fields: { accountId: ACCOUNT, baseUri: "https://na4.docusign.net" },
  credentials: { accessToken: "eyJ0-canary", refreshToken: "eyJ1-canary" },
  signature: { headers: { authorization: "Bearer eyJ0-canary" } },
  cases: [
    ...sending,
    ...reading,
    ...ENVELOPE_LIMITS.map(([errorCode, retryAfterMs]) => ({
      action: "getEnvelope",
      what: `too often for one envelope, for which no other call has to wait: ${errorCode}`,
      inputs: { envelopeId: ENVELOPE },
      exchanges: [
        {
          request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
          answer: {
            status: 400,
            headers: { "x-ratelimit-reset": "9999999999" },
            body: { errorCode, message: "Too many calls for the envelope." },
          },
        },
      ],
      failure: {
        status: 400,
        code: errorCode,
        message: "Too many calls for the envelope.",
        retryable: true,
        limited: false,
        retryAfterMs,
      },
    })),
  ],
};
