import type { ServerResponse } from "node:http";

/** Keeps a page of ours to itself: its policy, in no frame, its address told to nobody. */
export function protectPage(response: ServerResponse, contentSecurityPolicy: string): void {
  response.setHeader("Content-Security-Policy", contentSecurityPolicy);
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
}
