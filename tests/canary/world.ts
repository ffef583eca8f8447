import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, RecordedRequest } from "@workflow/testkit";
import { newCore } from "./finder.ts";
import type { Evidence } from "./evidence.ts";

/** How providers answer. */
export type Mood = "good" | "refuses" | "busy" | "down" | "breaks off" | "hangs";

/** Every host outside, at one address: it repeats whatever it is sent, in every way that hosts have. */
export interface World extends HttpDouble {
  mood: Mood;
}

/** What makes verifications succeed, of all providers that the tour connects. */
const VERIFIED = {
  ok: true,
  authenticated: true,
  authenticatedAccountId: 42,
  lang: "en_US",
  item: { item_id: "item_1" },
  accounts: [{ account_id: "acc_1", name: "Checking" }],
  data: [],
  scopes: [],
  emailAddress: "ada@example.com",
  portalId: 7,
  team_id: "T1",
  user_id: "U1",
};

/** Whoever is sent this text wants to be called in ten minutes. */
export const CALL_LATER = "call later";
/** Whoever is sent this one finds the request wrong, but not the credentials. */
export const DECLINE = "decline";

/** Providers are below `/<id>/`; `/world/<status>` answers with that status, `/world/cut` breaks off. */
export async function startWorld(evidence: Evidence): Promise<World> {
  const mood: Mood = "good";
  const double = await startHttpDouble((request, response) => handle(request, response));
  const world: World = Object.assign(double, { mood });
  const handle: DoubleHandler = (request, response) => {
    const [, place = "", how = ""] = request.path.split(/[/?]/);
    const answering = place === "world" ? moodOf(how) : world.mood;
    const headers = echoHeaders(request);
    if (request.body.includes(CALL_LATER)) {
      return { status: 429, headers: { ...headers, "retry-after": "600" }, body: refusal(request) };
    }
    if (request.body.includes(DECLINE)) {
      return { status: 422, headers, body: refusal(request) };
    }
    switch (answering) {
      case "hangs":
        return undefined;
      case "breaks off":
        // Half a body, then nothing: what was read of it may be in the error.
        response.writeHead(200, { "content-type": "application/json", "content-length": "99999" });
        response.write(JSON.stringify(echo(request)));
        setTimeout(() => response.destroy(), 20);
        return undefined;
      case "good":
        return { headers, body: goodBody(request, evidence) };
      case "refuses":
        return { status: place === "world" ? 422 : 401, headers, body: refusal(request) };
      case "busy":
        return { status: 429, headers: { ...headers, "retry-after": "0" }, body: refusal(request) };
      case "down":
        return { status: 503, headers, body: refusal(request) };
    }
  };
  return world;
}

function moodOf(how: string): Mood {
  const moods: Readonly<Record<string, Mood>> = {
    refuse: "refuses",
    busy: "busy",
    down: "down",
    cut: "breaks off",
    hang: "hangs",
  };
  return moods[how] ?? "good";
}

function goodBody(request: RecordedRequest, evidence: Evidence): unknown {
  if (request.path.endsWith("/authentication/login")) {
    const token = newCore();
    evidence.hide({ name: "token of a login", core: token });
    return { token, expires_at: new Date(Date.now() + 1_800_000).toISOString() };
  }
  const said = saidBy(request);
  // Named as outputs of actions are, which therefore repeat it, too.
  return { ...VERIFIED, id: "acct_1", name: said, object: said, text: said, echo: echo(request) };
}

/** As providers word their errors, each in its own members. */
function refusal(request: RecordedRequest): unknown {
  const said = `the key ${saidBy(request)} is not good`;
  return {
    ok: false,
    message: said,
    detail: said,
    error: { message: said, code: said, details: [{ message: said }] },
    errors: [{ message: said, code: said }],
    name: said,
    echo: echo(request),
  };
}

/** All that a request held, in one line. */
function saidBy({ headers, path, body }: RecordedRequest): string {
  return [headers.authorization, headers["x-api-key"], headers["x-token"], path, body].join(" ");
}

/** A request as it came, and what was in it in the encodings that servers use: docs/secrets.md lists them. */
function echo(request: RecordedRequest): Record<string, unknown> {
  const { headers, path, body } = request;
  return { headers, path, body, encoded: valuesIn(request).map(encodings) };
}

/** The values that were sent, without the encodings in which they were sent. */
function valuesIn({ headers, body, path }: RecordedRequest): string[] {
  const [scheme = "", credentials = ""] = (headers.authorization ?? "").split(" ");
  const pair = scheme === "Basic" ? Buffer.from(credentials, "base64").toString() : credentials;
  const query = [...new URL(path, "http://world").searchParams.values()];
  const sent = [headers["x-api-key"], headers["x-token"], headers["x-bound"], pair, ...query];
  return [...sent.flatMap((value) => value ?? []), ...textsIn(body)];
}

function textsIn(body: string): string[] {
  try {
    return Object.values(Object(JSON.parse(body))).filter((value) => typeof value === "string");
  } catch {
    return [];
  }
}

function encodings(value: string): Record<string, string> {
  const bytes = Buffer.from(value);
  const base64 = bytes.toString("base64");
  return {
    plain: `it is ${value}.`,
    json: JSON.stringify(value),
    base64,
    base64url: bytes.toString("base64url"),
    inPair: Buffer.from(`user:${value}`).toString("base64"),
    base64Twice: Buffer.from(base64).toString("base64"),
    wrapped: base64.replaceAll(/.{16}/g, "$&\r\n"),
    hex: bytes.toString("hex"),
    percent: encodeURIComponent(value),
    percentTwice: encodeURIComponent(encodeURIComponent(value)),
    percentAll: bytes.toString("hex").replaceAll(/../g, "%$&"),
    form: new URLSearchParams([["", value]]).toString(),
    html: value.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`),
    upper: value.toUpperCase(),
    utf16: Buffer.from(value, "utf16le").toString("base64"),
  };
}

function echoHeaders({ headers }: RecordedRequest): Record<string, string> {
  const sent = String(headers.authorization ?? headers["x-token"] ?? "nothing");
  return {
    "x-echo": encodeURIComponent(sent),
    "x-echo-base64": Buffer.from(sent).toString("base64"),
    "set-cookie": `sent=${encodeURIComponent(sent)}`,
  };
}
