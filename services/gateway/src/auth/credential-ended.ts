import { AppError } from "@workflow/errors";

/**
 * Distinguishes these errors from errors of the services, for which the gateway's own token would
 * be to blame.
 */
const made = new WeakSet<Error>();

/** The error for a caller whose credential ended after the request was admitted. */
export function credentialEnded(): AppError {
  const error = new AppError("UNAUTHORIZED", "The API key or the session has ended.");
  made.add(error);
  return error;
}

/** Whether `credentialEnded` made it. */
export function isCredentialEnded(error: Error): boolean {
  return made.has(error);
}
