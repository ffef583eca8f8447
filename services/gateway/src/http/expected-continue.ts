import type { IncomingMessage, ServerResponse } from "node:http";

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Notes that a client waits for 100 (Continue) before it sends the body (RFC 9110, section 10.1.1).
 */
export function holdBody(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Tells a waiting client to send its body; for whoever is about to read it. */
export function askForBody(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined || response.headersSent) return;
  waiting.delete(request);
  response.writeContinue();
}

/** Whether a client still waits for 100 (Continue). */
export function isBodyHeld(request: IncomingMessage): boolean {
  return waiting.has(request);
}
