/** Whether a process can do its work. */
export interface ReadinessReport {
  /** Missing needs without which it cannot work. It is ready when this is empty. */
  missing: readonly string[];
  /**
   * Missing needs without which it still works. The parts that need them wait or fail until they are
   * back.
   */
  impaired: readonly string[];
}

/** What a process tells of itself beside its state, such as the pool that it serves; known from its start. */
export type ReadinessDetails = Readonly<Record<string, string>>;

/** Something that a process needs. */
export interface ReadinessCheck {
  /** The reason why it cannot be used; null when it can. Must not reject. */
  trouble(): Promise<string | null>;
  /** Whether the process is of no use without it. */
  isNeeded: boolean;
}

/** Readiness of a process, as it is served at /readyz. */
export interface Readiness {
  details: ReadinessDetails;
  /** Never rejects. */
  report(): Promise<ReadinessReport>;
}

/** Whoever reaches the port may ask, so answers are shared for this long. */
const ANSWER_FOR_MS = 1_000;

/**
 * Reports which of the checks fail. All of them run at the same time.
 *
 * @param own what is missing by the process's own state, such as that it starts or stops; called each
 * time
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  own: () => string | null,
  details: ReadinessDetails = {},
): Readiness {
  let answer: Promise<ReadinessReport> | undefined;
  let askedAt = 0;

  async function examine(): Promise<ReadinessReport> {
    const troubles = await Promise.all(checks.map((check) => check.trouble()));
    const of = (isNeeded: boolean) =>
      troubles.filter((text, index) => text !== null && checks[index]?.isNeeded === isNeeded);
    return { missing: of(true).filter(isText), impaired: of(false).filter(isText) };
  }

  return {
    details,
    async report() {
      const now = performance.now();
      if (answer === undefined || now - askedAt > ANSWER_FOR_MS) {
        askedAt = now;
        answer = examine();
      }
      const { missing, impaired } = await answer;
      const ofItself = own();
      return { missing: ofItself === null ? missing : [ofItself, ...missing], impaired };
    },
  };
}

function isText(text: string | null): text is string {
  return text !== null;
}
