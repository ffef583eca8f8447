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

/** How it is decided whether a trace is recorded. */
export interface Sampling {
  sampler: (typeof SAMPLERS)[number];
  /** Of traces that are recorded, 0 to 1; for the samplers with a ratio. */
  ratio: number;
}

/**
 * Decides at the edge whether a trace is recorded, by chance. A caller chooses the trace id, and with it
 * what a sampler of ids decides; who pays for spans is the operator. Only `parentbased_…` obeys callers.
 */
export function decide({ sampler, ratio }: Sampling, parent: string | undefined): boolean {
  if (sampler.startsWith("parentbased_") && parent !== undefined) return isSampled(parent);
  if (sampler.endsWith("always_on")) return true;
  if (sampler.endsWith("always_off")) return false;
  return Math.random() < ratio;
}
