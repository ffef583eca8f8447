import type { CompiledStep } from "@workflow/definition";
import type { StepRecord } from "../domain/step-records.ts";

/** Notified of each step that ends. */
export interface StepObserver {
  /** @param ms from the step's beginning to its end, with retries and waits */
  stepEnded(type: CompiledStep["type"], status: StepRecord["status"], ms: number): void;
}
