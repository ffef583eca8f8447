import type { AppError } from "@workflow/errors";

export interface TurnLaneOptions {
  /** Who may wait in all. */
  waitingMax: number;
  /** Who may wait on behalf of one payer. */
  waitingEachMax: number;
  /** What somebody is told for whom there is no room; `isOwn` when the payer's own share is full. */
  refusal: (isOwn: boolean) => AppError;
}

/** Does one piece of work at a time. Payers take turns; each one's work is done in order. */
export interface TurnLane {
  /** Rejects with the refusal when too much waits, now or before its turn, else as the work does. */
  run<Result>(payer: string, work: () => Promise<Result>): Promise<Result>;
}

/** A piece of work that waits for its turn. */
interface Waiting {
  begin(): void;
  refuse(error: AppError): void;
}

/**
 * A lane in which a payer waits for one piece of work of each other payer, however many those bring.
 * When it is full, a newcomer takes the place of the latest work of the payer with the most: a few who
 * fill it together cannot keep everybody else out.
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

  /** Puts out the latest work of whoever has the most, unless the newcomer would have as much then. */
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
    // To the end of the line of payers.
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
