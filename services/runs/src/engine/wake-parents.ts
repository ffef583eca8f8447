import { insertWakeUps } from "../store/wake-ups.ts";
import type { EndHook } from "./end-hooks.ts";

/** Wakes the runs that wait for the end of these (D17). */
export const wakeParents: EndHook = async (transaction, ended) => {
  const parents = new Set(ended.flatMap((run) => run.waitingParentRunId ?? []));
  if (parents.size > 0) await insertWakeUps(transaction, [...parents]);
};
