import type { ServerResponse } from "node:http";

/** Protects a page: it gets its policy, cannot be framed, and sends no referrer. */
export function protectPage(response: ServerResponse, contentSecurityPolicy: string): void {
  response.setHeader("Content-Security-Policy", contentSecurityPolicy);
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
}
