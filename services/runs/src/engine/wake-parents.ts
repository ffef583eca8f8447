import type { EndHook } from "../journal/end-hooks.ts";
import { insertWakeUps } from "../store/wake-ups.ts";

/** Wakes the runs that wait for the end of these (D17). */
export const wakeParents: EndHook = {
  concerns: ({ waitingParentRunId }) => waitingParentRunId !== null,
  async write(transaction, ended) {
    const parents = new Set(ended.flatMap((run) => run.waitingParentRunId ?? []));
    await insertWakeUps(transaction, [...parents]);
  },
};
