import { AppError } from "@workflow/errors";

/** To be told from errors of the services, for which the gateway's own token would be to blame. */
const made = new WeakSet<Error>();

/** What a caller is told whose credential ended after the request was let in. */
export function credentialEnded(): AppError {
  const error = new AppError("UNAUTHORIZED", "The API key or the session has ended.");
  made.add(error);
  return error;
}

/** Whether `credentialEnded` made it. */
export function isCredentialEnded(error: Error): boolean {
  return made.has(error);
}
