import { isSampled } from "./traceparent.ts";

/** The samplers of OTEL_TRACES_SAMPLER. */
export const SAMPLERS = [
  "traceidratio",
  "always_on",
  "always_off",
  "parentbased_traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
] as const;

/** The rule that decides whether a trace is recorded. */
export interface Sampling {
  sampler: (typeof SAMPLERS)[number];
  /** The share of recorded traces, 0 to 1; for the samplers with a ratio. */
  ratio: number;
}

/**
 * Decides by chance, in the first process, whether a trace is recorded. The decision does not use the
 * trace id, because callers choose it and the operator pays for spans. Only `parentbased_…` follows the
 * caller.
 */
export function decide({ sampler, ratio }: Sampling, parent: string | undefined): boolean {
  if (sampler.startsWith("parentbased_") && parent !== undefined) return isSampled(parent);
  if (sampler.endsWith("always_on")) return true;
  if (sampler.endsWith("always_off")) return false;
  return Math.random() < ratio;
}
