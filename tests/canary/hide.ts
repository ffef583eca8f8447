import type { Evidence } from "./evidence.ts";
import { newCore } from "./finder.ts";

/** Makes a secret value and remembers it. `shape` puts the part that nobody else has into its form. */
export type Hide = (name: string, shape?: (core: string) => string) => string;

/** Secrets of this making must not be seen anywhere. */
export function createHide(evidence: Evidence): Hide {
  return (name, shape = (core) => core) => {
    const core = newCore();
    evidence.hide({ name, core });
    return shape(core);
  };
}
