import { NatsError } from "nats";

/** The server's own number of a JetStream error; null for another kind of error. */
export function jetStreamErrorCode(error: unknown): number | null {
  return error instanceof NatsError ? (error.api_error?.err_code ?? null) : null;
}
