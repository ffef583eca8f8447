import { expect } from "@jest/globals";
import { callApi } from "./api-client.ts";
import type { Answer, CallOptions } from "./api-client.ts";
import type { Person, WholeSystem } from "./whole-system.ts";

type Signable = Pick<Person, "email" | "password">;

/** The token in the cookie that an answer sets; null when it sets none. */
export function tokenIn({ headers }: Answer): string | null {
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

/** The options of a request in a session, as a page of the system itself sends it. */
export function bySession(
  { origin }: Pick<WholeSystem, "origin">,
  token: string,
): Required<Pick<CallOptions, "key" | "headers">> {
  return { key: null, headers: { cookie: `wfs_session=${token}`, origin } };
}
