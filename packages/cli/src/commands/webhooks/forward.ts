import type { Message } from "./sources.ts";

/** The result of forwarding a message. */
export interface Forwarded {
  kind: Message["kind"];
  id: string;
  type: string;
  /** The status of the local program's answer; null when there was none. */
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** The time-out that the service uses for receivers. */
const TIMEOUT_MS = 15_000;

/** Posts a message once. A program that does not answer is reported, and not asked again. */
export async function forward(url: URL, message: Message, signal: AbortSignal): Promise<Forwarded> {
  const { kind, id, type, body, headers } = message;
  const startedAt = performance.now();
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { ...headers },
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return { status: response.status, error: null };
    },
    (error: unknown) => ({ status: null, error: reasonOf(error) }),
  );
  return { kind, id, type, ...answer, durationMs: Math.round(performance.now() - startedAt) };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Object && "code" in cause) return String(cause.code);
  return error instanceof Error ? error.message : String(error);
}
