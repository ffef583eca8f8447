/** Lets a fixed number of tasks run at once, in the order in which they came. */
export interface Slots {
  /** Resolves when a slot is free. The function that it gives releases the slot. */
  take(): Promise<() => void>;
  /** Resolves when every slot is free. */
  allFree(): Promise<void>;
}

export function createSlots(count: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const idleWaiters: (() => void)[] = [];
  const free = (): void => {
    const next = waiting.shift();
    // The slot goes to the next in line without being free in between.
    if (next !== undefined) return next();
    taken -= 1;
    if (taken === 0) for (const resolve of idleWaiters.splice(0)) resolve();
  };
  return {
    async take() {
      if (taken < count) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return free;
    },
    async allFree() {
      if (taken > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },
  };
}
