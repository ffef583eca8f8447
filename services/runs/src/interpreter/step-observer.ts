import type { CompiledStep } from "@workflow/definition";
import type { StepRecord } from "../domain/step-records.ts";

/** Is told of steps that ended. */
export interface StepObserver {
  /** @param ms from its beginning to its end, with retries and waits */
  stepEnded(type: CompiledStep["type"], status: StepRecord["status"], ms: number): void;
}
