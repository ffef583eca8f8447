/** Whether a process can do its work. */
export interface ReadinessReport {
  /** Missing parts without which the process cannot work; the process is ready when there are none. */
  missing: readonly string[];
  /** Missing parts without which the process still works. Work that needs them waits or fails. */
  impaired: readonly string[];
}

/** Facts about a process beside its state, such as the pool that it serves; fixed at its start. */
export type ReadinessDetails = Readonly<Record<string, string>>;

/** A check of one part that a process needs. */
export interface ReadinessCheck {
  /** The reason why the part is unusable; null when it is usable. Must not reject. */
  trouble(): Promise<string | null>;
  /** Whether the process cannot work without the part. */
  isNeeded: boolean;
}

/** Readiness of a process, as it is served at /readyz. */
export interface Readiness {
  details: ReadinessDetails;
  /** Never rejects. */
  report(): Promise<ReadinessReport>;
}

/** Anybody who reaches the port may ask, so answers are shared for this long. */
const ANSWER_FOR_MS = 1_000;

/**
 * Reports the failing checks; all checks run at the same time.
 *
 * @param own the process's own missing parts, such as that it starts or stops; called for each report
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
