import type { IncomingMessage } from "node:http";

const NAME = "wfs_session";

/** The value of the session's cookie; undefined when the request has none. */
export function sessionTokenOf(request: Pick<IncomingMessage, "headers">): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals !== -1 && pair.slice(0, equals).trim() === NAME)
      return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/**
 * The `Set-Cookie` header that begins a session; scripts and other sites cannot read the cookie
 * (D10).
 *
 * @param isSecure whether the browser sends it over https only
 */
export function sessionCookie(token: string, lifeMs: number, isSecure: boolean): string {
  return cookie(token, Math.floor(lifeMs / 1000), isSecure);
}

/** The `Set-Cookie` header that removes the session's cookie. */
export function endedSessionCookie(isSecure: boolean): string {
  return cookie("", 0, isSecure);
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
  return `${NAME}=${value}; ${attributes}${isSecure ? "; Secure" : ""}`;
}
