import { expect, it } from "@jest/globals";
import type { InboundRequest } from "../src/inbound/inbound-request.ts";
import { verifyNango } from "../src/inbound/nango/verify-nango.ts";
import { createAirwallexHandler } from "../src/inbound/providers/airwallex.ts";
import { createFinanceHandler } from "../src/inbound/providers/finance.ts";
import { createHubspotHandler } from "../src/inbound/providers/hubspot.ts";

/** Signatures made by another program (Python's hmac), as the providers' documents say. */
const AIRWALLEX = {
  body: '{"id":"evt_1","name":"payment_intent.succeeded","account_id":"acct_1"}',
  headers: {
    "x-timestamp": "1357872222592",
    "x-signature": "bc060d8ef5ec85080b520a3a522793ffe6f7b027ae0052380ed385cd3cb251eb",
  },
  at: 1_357_872_222_592,
};
const HUBSPOT = {
  body: '[{"eventId":1,"portalId":62515}]',
  // It signs the address with @, : and / in its query, and & as it was sent.
  url: "https://example.com/webhooks/hubspot?to=a%40b.c%3A1%2f%26",
  headers: {
    "x-hubspot-request-timestamp": "1640995200000",
    "x-hubspot-signature-v3": "86PwIIj1EglMd6xEo4xsT2SYMGckwhef1qtL7AYKV9M=",
  },
  at: 1_640_995_200_000,
};
const FINANCE = {
  body: '{"id":"evt_1","type":"invoice.paid"}',
  headers: {
    "x-finance-signature":
      "t=1640995200,v1=6ed30b980a0e7c0c9b158d31e9a9f4f5c3a67b47d60ef9fc4a19b16d025d1dc1",
  },
  at: 1_640_995_200_000,
};
const TOLERANCE_MS = 300_000;

interface Sent {
  body: string;
  headers: Readonly<Record<string, string>>;
  url?: string;
  at?: number;
}

function requestOf({ body, headers, url = "https://example.com/webhooks/x", at = 0 }: Sent) {
  const request: InboundRequest = {
    path: "x",
    query: new URLSearchParams(),
    url,
    headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])),
    rawBody: Buffer.from(body),
    requestId: "r",
    receivedAt: new Date(at),
  };
  return request;
}

it.each([
  ["airwallex", createAirwallexHandler({ airwallex: "airwallex-secret" }), AIRWALLEX],
  ["hubspot", createHubspotHandler({ hubspot: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy" }), HUBSPOT],
  ["finance", createFinanceHandler({ finance: "finance-secret" }), FINANCE],
])(
  "what %s signs by its documents is genuine for 300 s either way, and no longer",
  async (_, handler, sent) => {
    const verifyAt = async (at: number) => handler.verify(requestOf({ ...sent, at }));
    for (const off of [0, TOLERANCE_MS, -TOLERANCE_MS]) {
      expect(await verifyAt(sent.at + off)).toBe("verified");
    }
    for (const off of [TOLERANCE_MS + 1, -TOLERANCE_MS - 1]) {
      expect(await verifyAt(sent.at + off)).toBe("failed");
    }
    expect(await handler.verify(requestOf({ ...sent, body: `${sent.body} ` }))).toBe("failed");
    expect(await handler.verify(requestOf({ ...sent, headers: {} }))).toBe("missing");
  },
);

it("an address with another host or query is not the one that HubSpot has signed", async () => {
  const handler = createHubspotHandler({ hubspot: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy" });
  for (const url of ["https://evil.example/webhooks/hubspot", `${HUBSPOT.url}&x=1`]) {
    expect(await handler.verify(requestOf({ ...HUBSPOT, url }))).toBe("failed");
  }
});

it("a time that is no time, twice there or missing makes a signature worthless", async () => {
  const handler = createFinanceHandler({ finance: "finance-secret" });
  const [time, signature] = FINANCE.headers["x-finance-signature"].split(",");
  const headers = [
    `${signature}`,
    `${time},${time},${signature}`,
    `t=1640995200.0,${signature}`,
    `t=,${signature}`,
    `t=-1640995200,${signature}`,
    `t=${"9".repeat(400)},${signature}`,
    `${time},v0=${signature?.slice(3)}`,
    `${time},v1=`,
    `${time},${signature}00`,
    `${time},${signature?.slice(0, -2)}`,
    "",
  ];
  for (const header of headers) {
    const sent = requestOf({ ...FINANCE, headers: { "x-finance-signature": header } });
    expect(await handler.verify(sent)).toBe("failed");
  }
});

it("of a list of a thousand signatures none is compared, while a few may be wrong", async () => {
  const handler = createFinanceHandler({ finance: "other-secret,finance-secret" });
  const genuine = FINANCE.headers["x-finance-signature"];
  const wrong = `v1=${"0".repeat(64)}`;
  const verifyWith = (count: number) => {
    const list = [genuine, ...Array.from({ length: count }, () => wrong)].join(",");
    return handler.verify(requestOf({ ...FINANCE, headers: { "x-finance-signature": list } }));
  };
  expect(await verifyWith(3)).toBe("verified");
  expect(await verifyWith(1_000)).toBe("failed");
});

it("both of Nango's signatures are known, and the newer one decides where both are there", () => {
  const body = '{"type":"auth"}';
  const hmac = "a8847c07030268f45d64ac44c53179df1859ef8fc12f383c626ef4a0ce6b9413";
  const older = "574f48718fb39dbd9169708e8da01c196c846c30c760a83509c1838951e9fff6";
  const verify = (headers: Record<string, string>, secrets = ["first", "nango-secret"]) =>
    verifyNango(requestOf({ body, headers }), secrets);
  expect(verify({ "x-nango-hmac-sha256": hmac })).toBe("verified");
  expect(verify({ "x-nango-signature": older })).toBe("verified");
  expect(verify({ "x-nango-hmac-sha256": hmac, "x-nango-signature": "no" })).toBe("verified");
  expect(verify({ "x-nango-hmac-sha256": older, "x-nango-signature": older })).toBe("failed");
  expect(verify({ "x-nango-hmac-sha256": "" })).toBe("failed");
  expect(verify({})).toBe("missing");
  expect(verify({ "x-nango-hmac-sha256": hmac }, [])).toBe("unconfigured");
});
