import type { Place } from "./evidence.ts";

/** Two values that are no secrets: in the ids of requests, and in the input of runs. */
export const REQUEST_ID = "request id";
export const INPUT = "input of runs";
export const BOTH: readonly string[] = [INPUT, REQUEST_ID];

/** Which of the two is to be seen where: what steps work with is no more for logs than secrets are. */
export const CONTROLS: Readonly<Record<Place, readonly string[]>> = {
  "REST answers": BOTH,
  "live events": BOTH,
  "gRPC answers": [INPUT],
  "admin commands": [REQUEST_ID],
  terminal: [],
  log: [REQUEST_ID],
  events: BOTH,
  "files of NATS": BOTH,
  database: BOTH,
  "data folder": BOTH,
  metrics: [],
  "command lines": [],
  traces: [REQUEST_ID],
};
/** What is seen in every such place, where neither of the two belongs. */
export const LANDMARKS: Readonly<Partial<Record<Place, string>>> = {
  terminal: "A first workflow, in another terminal:",
  metrics: "gateway_http_request_duration_seconds",
  "command lines": "deploy/dev/src/start.ts",
};
/** Secrets that steps, connections and agents have sent outside, or else nothing could be told of them. */
export const USED: readonly string[] = [
  "secret TOKEN",
  "secret ASCII",
  "password of basic auth",
  "token of bearer auth",
  "bound secret",
  ...["ok", "refuse", "cut"].map((how) => `header of an endpoint (${how})`),
  ...["rillet", "resend", "sendgrid", "airwallex", "odoo", "avalara"].map(
    (id) => `second key of ${id}`,
  ),
  "token of a login",
  ...["google-mail", "hubspot"].flatMap((id) => [
    `access token of ${id}`,
    `refresh token of ${id}`,
  ]),
  ...["slack", "plaid"].map((id) => `token that the broker has of ${id}`),
  "GOOGLE_MAIL_CLIENT_SECRET",
  "PLAID_CLIENT_SECRET",
  "NANGO_SECRET_KEY",
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
];
