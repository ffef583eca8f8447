import { expect } from "@jest/globals";
import { callApi } from "./api-client.ts";
import type { Answer, CallOptions } from "./api-client.ts";
import type { ReceivedHeaders } from "./description/answer-headers.ts";
import { createSenders, headersOf, sendRaw } from "./raw-requests.ts";
import type { Person, WholeSystem } from "./whole-system.ts";

type Signable = Pick<Person, "email" | "password">;

/** The token in the cookie that an answer sets; null when it sets none. */
export function tokenIn({ headers }: { headers: ReceivedHeaders }): string | null {
  return /^wfs_session=([^;]+);/.exec(headers.get("set-cookie") ?? "")?.[1] ?? null;
}

/** Tries to sign in. */
export function trySignIn(
  system: Pick<WholeSystem, "origin">,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return callApi(`${system.origin}/api/v1/auth/session`, "POST", { body, headers });
}

/** Signs somebody in, to a company when one is named; returns the session's token. */
export async function signIn(
  system: Pick<WholeSystem, "origin">,
  { email, password }: Signable,
  company?: string,
): Promise<string> {
  const answer = await trySignIn(system, { email, password, company });
  expect(answer).toMatchObject({ status: 200 });
  const token = tokenIn(answer);
  if (token === null) throw new Error("No cookie was set.");
  return token;
}

const nextSender = createSenders();

/**
 * Signs somebody in from an address that nobody else signs in from; what makes a request one of the session.
 * Sign-ins of one address are limited, and a test that plays many requests needs more.
 */
export async function signInApart(
  system: Pick<WholeSystem, "origin">,
  { email, password }: Signable,
  company?: string,
): Promise<ReturnType<typeof bySession>> {
  const body = JSON.stringify({ email, password, company });
  const request = { method: "POST", path: "/auth/session", body, from: nextSender() };
  const { status, headers, text } = await sendRaw(system, request);
  expect({ status, text }).toMatchObject({ status: 200 });
  const token = tokenIn({ headers: headersOf(headers) });
  if (token === null) throw new Error("No cookie was set.");
  return bySession(system, token);
}

/** The options of a request in a session, as a page of the system itself sends it. */
export function bySession(
  { origin }: Pick<WholeSystem, "origin">,
  token: string,
): Required<Pick<CallOptions, "key" | "headers">> {
  return { key: null, headers: { cookie: `wfs_session=${token}`, origin } };
}
