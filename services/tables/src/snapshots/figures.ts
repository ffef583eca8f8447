import { AggregateRowsResponse } from "@workflow/proto/tables/v1/rows";
import type { AggregateGroup, Steps } from "../engine/index.ts";

/** Groups that are encoded in one step; each may have twenty figures. */
const STEP_GROUPS = 500;

/** Figures as callers get them. */
export interface Figures {
  readonly groupCount: number;
  /** Whether a key is only the beginning of its rows' values, which may differ. */
  readonly hasCutKey: boolean;
  /** The groups, an encoded `AggregateRowsResponse`. */
  readonly encoded: Uint8Array;
}

/**
 * Encodes groups where they were made. As objects they would have to be copied to the service's own thread and be
 * encoded there, which holds it for tens of milliseconds when there are 10,000.
 */
export function* encodeInSteps(groups: readonly AggregateGroup[]): Steps<Figures> {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < groups.length; start += STEP_GROUPS) {
    yield;
    const part = groups.slice(start, start + STEP_GROUPS);
    const message = part.map(({ keyJson, valuesJson }) => ({
      keyJson,
      valuesJson: [...valuesJson],
    }));
    // Messages of repeated fields one behind the other are one message.
    parts.push(AggregateRowsResponse.encode({ groups: message }).finish());
  }
  const encoded = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    encoded.set(part, at);
    at += part.length;
  }
  const hasCutKey = groups.some(({ keyIsCut }) => keyIsCut);
  return { groupCount: groups.length, hasCutKey, encoded };
}
