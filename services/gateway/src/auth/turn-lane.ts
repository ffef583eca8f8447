import type { AppError } from "@workflow/errors";

export interface TurnLaneOptions {
  /** The limit of waiting work in all. */
  waitingMax: number;
  /** The limit of one payer's waiting work. */
  waitingEachMax: number;
  /** The refusal of work for which there is no room; `isOwn` when the payer's own share is full. */
  refusal: (isOwn: boolean) => AppError;
}

/** Does one piece of work at a time. Payers take turns; each payer's work is done in order. */
export interface TurnLane {
  /**
   * Rejects with the refusal when too much waits, now or before its turn; otherwise settles as the
   * work does.
   */
  run<Result>(payer: string, work: () => Promise<Result>): Promise<Result>;
}

/** A piece of work that waits for its turn. */
interface Waiting {
  begin(): void;
  refuse(error: AppError): void;
}

/**
 * A lane in which a payer waits for at most one piece of work of each other payer. When the lane is
 * full, a newcomer replaces the latest work of the payer with the most, so that a few payers cannot
 * keep everybody else out.
 */
export function createTurnLane({ waitingMax, waitingEachMax, refusal }: TurnLaneOptions): TurnLane {
  /** In the order of their turns. */
  const waiting = new Map<string, Waiting[]>();
  let waitingCount = 0;
  let isBusy = false;

  const enter = (payer: string): Promise<void> => {
    if (!isBusy) {
      isBusy = true;
      return Promise.resolve();
    }
    const own = waiting.get(payer) ?? [];
    if (own.length >= waitingEachMax) throw refusal(true);
    if (waitingCount >= waitingMax) makeRoom(own.length);
    waitingCount += 1;
    waiting.set(payer, own);
    return new Promise((begin, refuse) => own.push({ begin, refuse }));
  };

  /**
   * Refuses the latest work of the payer with the most, unless the newcomer would then have as
   * much.
   */
  const makeRoom = (ownCount: number): void => {
    const [first = [], ...others] = waiting.values();
    const most = others.reduce((one, other) => (other.length >= one.length ? other : one), first);
    if (most.length <= ownCount + 1) throw refusal(false);
    most.pop()?.refuse(refusal(true));
    waitingCount -= 1;
  };

  const leave = (): void => {
    const [first] = waiting;
    if (first === undefined) {
      isBusy = false;
      return;
    }
    const [payer, own] = first;
    const next = own.shift();
    waitingCount -= 1;
    // Moves a payer to the end of the line.
    waiting.delete(payer);
    if (own.length > 0) waiting.set(payer, own);
    next?.begin();
  };

  return {
    async run(payer, work) {
      await enter(payer);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
