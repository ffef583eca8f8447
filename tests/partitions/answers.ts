import { z } from "zod";

/** What a request came to. */
export interface Asked {
  isAccepted: boolean;
  /** `data` of an envelope, else the whole body. */
  data: Record<string, unknown>;
}

/** Requests of a kind, counted since the last time. */
export interface Count {
  accepted: number;
  refused: number;
  /** Of the slowest answer, in milliseconds. */
  slowest: number;
}

/**
 * The longest time in which any of the requests has to be answered: a gateway gives up a call after 30 s, and
 * the rest is for a machine that has other work, too. What hangs without a limit does so for minutes.
 */
const HANG_MS = 60_000;
const TIMEOUT_MS = 120_000;

const envelope = z.looseObject({
  data: z.record(z.string(), z.unknown()).optional(),
  error: z.union([z.string(), z.looseObject({ code: z.string(), message: z.string() })]).optional(),
});

/** Asks gateways, and holds their answers to what callers are promised while something is away. */
export class Answers {
  /** Answers that no caller should get. */
  readonly faults: string[] = [];
  /** How often each refusal was given. */
  readonly refusals = new Map<string, number>();
  #counts = new Map<string, Count>();

  /** Sends a request; one that fails without an answer is a fault. Never rejects. */
  async ask(kind: string, url: string, init: RequestInit): Promise<Asked> {
    const startedAt = performance.now();
    let status = 0;
    let text = "";
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      status = response.status;
      text = await response.text();
    } catch (error) {
      text = `no answer: ${String(error)} ${String(error instanceof Error ? error.cause : "")}`;
    }
    const tookMs = performance.now() - startedAt;
    const body = parse(text);
    const isAccepted = status >= 200 && status < 300;
    const isClean = isAccepted || (isRefusal(kind, status) && body?.error !== undefined);
    if (!isClean || tookMs > HANG_MS) {
      this.faults.push(`${kind}: ${status} after ${Math.round(tookMs)} ms: ${text.slice(0, 300)}`);
    }
    if (!isAccepted) {
      const refusal = `${kind} ${status} ${messageOf(body?.error)}`;
      this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
    }
    this.#count(kind, isAccepted, tookMs);
    return { isAccepted, data: body?.data ?? body ?? {} };
  }

  /** What was asked since the last time. */
  takeCounts(): ReadonlyMap<string, Count> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  #count(kind: string, isAccepted: boolean, tookMs: number): void {
    const before = this.#counts.get(kind) ?? { accepted: 0, refused: 0, slowest: 0 };
    this.#counts.set(kind, {
      accepted: before.accepted + (isAccepted ? 1 : 0),
      refused: before.refused + (isAccepted ? 0 : 1),
      slowest: Math.max(before.slowest, tookMs),
    });
  }
}

/**
 * The requests are good ones: whatever is away, no caller is told that it is his fault. Who changes something again
 * may come upon his own change whose answer he never got.
 */
function isRefusal(kind: string, status: number): boolean {
  if (status === 503 || status === 429) return true;
  return (kind === "inbound" && status === 504) || (kind === "change" && status === 409);
}

function messageOf(error: z.output<typeof envelope>["error"]): string {
  return typeof error === "string" ? error : (error?.message ?? "");
}

function parse(text: string): z.output<typeof envelope> | undefined {
  try {
    return envelope.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
