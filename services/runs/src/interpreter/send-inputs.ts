import type { EvaluatedValue } from "@workflow/definition";
import { measureJson } from "@workflow/json";
import type { OpenStep } from "../domain/step-records.ts";
import { storableJson } from "../domain/storable-json.ts";
import type { DoneCall, PausedCall } from "./effects/paused-call.ts";
import { UNDER_WAY } from "./effects/sending.ts";
import { Parked } from "./control-flow-signals.ts";
import type { Attempt, Execution } from "./execution.ts";
import { callInTurn } from "./in-turn.ts";

/** Inputs up to this size take no turn: they go even while others wait for theirs. */
const FREE_BYTES = 4 * 1024;

/** The inputs of a step, and the call that takes them. */
export interface Sending<Resolved extends { inputs: EvaluatedValue }, Output> {
  /** Called before each sending, and once before that to measure the size. */
  resolve: () => Resolved;
  /** Gets whether the connection's turn has come. */
  send: (resolved: Resolved, hasTurn: boolean) => Promise<DoneCall<Output> | PausedCall>;
}

/**
 * Resolves a step's inputs and sends them, again after each pause of the connection. A step that waits
 * for a turn holds none of its inputs, since thousands may wait. The record shows what was resolved.
 */
export async function sendInputs<Resolved extends { inputs: EvaluatedValue }, Output>(
  execution: Execution,
  open: OpenStep,
  { showInput }: Attempt,
  { resolve, send }: Sending<Resolved, Output>,
): Promise<Output> {
  const { slices } = execution.effects.sending;
  let isShown = false;
  const show = ({ inputs }: Resolved): void => {
    isShown = true;
    showInput(storableJson(inputs.masked));
  };
  try {
    return await callInTurn(execution, open, async (hasTurn) => {
      const { bytes, small } = await slices.do(() => weigh(resolve()));
      // Only small inputs are kept during the wait, and not resolved twice.
      const giveBack = small === null ? await takeTurn(execution, bytes) : undefined;
      try {
        const resolved = small ?? (await slices.do(resolve));
        show(resolved);
        const outcome = await send(resolved, hasTurn);
        if (outcome.kind === "paused") {
          isShown = false;
          showInput(null);
        }
        return outcome;
      } finally {
        giveBack?.();
      }
    });
  } catch (error) {
    if (!isShown && !(error instanceof Parked)) await slices.do(() => show(resolve()));
    throw error;
  }
}

function takeTurn({ effects, facts, signal }: Execution, bytes: number): Promise<() => void> {
  return effects.sending.turns.take(facts.companyId, signal, bytes);
}

function weigh<Resolved extends { inputs: EvaluatedValue }>(
  resolved: Resolved,
): { bytes: number; small: Resolved | null } {
  const bytes = bytesOf(resolved.inputs);
  return { bytes, small: bytes <= FREE_BYTES ? resolved : null };
}

/** The bytes of inputs. An input above a company's share counts as the whole share. */
function bytesOf({ value, masked }: EvaluatedValue): number {
  const bytes = measureJson(value, UNDER_WAY.perTenant);
  return masked === value ? bytes : bytes + measureJson(masked, UNDER_WAY.perTenant);
}
