import { evaluate } from "@workflow/definition";
import type { CompiledAgentStep, EvaluatedValue } from "@workflow/definition";
import { measureJson } from "@workflow/json";
import { StepError } from "../../domain/step-error.ts";
import type { OpenStep } from "../../domain/step-records.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { AgentQuestion, AgentRecord } from "../effects/agent-client.ts";
import type { Attempt, Execution, StepOutcome } from "../execution.ts";
import { completionInTurns } from "../step-output.ts";
import { withoutWords } from "../without-words.ts";
import { readAgentQuestion, readAgentRecord } from "./agent-question.ts";

/** The largest text that templates may give (D19). */
const QUESTION_BYTES_MAX = 1024 * 1024;
/** Questions up to this size are kept while they wait, and not resolved twice. */
const KEPT_BYTES = 4 * 1024;

/** Asks an AI agent (D17, ADR 40). Its answer is the output. */
export async function executeAgent(
  execution: Execution,
  step: CompiledAgentStep,
  open: OpenStep,
  attempt: Attempt,
): Promise<StepOutcome> {
  const { effects, facts, scope, signal } = execution;
  const { bytes, small } = weigh(evaluate(step.question, scope));
  const wanted = bytes + secretBytesOf(execution);
  const giveBack = await effects.agents.takeTurn(facts.companyId, wanted, signal);
  try {
    // A large question is not held before its turn, since thousands may wait.
    return await ask(execution, small ?? evaluate(step.question, scope), open, attempt);
  } finally {
    giveBack();
  }
}

function weigh(resolved: EvaluatedValue): { bytes: number; small: EvaluatedValue | null } {
  const bytes = bytesOf(resolved);
  return { bytes, small: bytes <= KEPT_BYTES ? resolved : null };
}

async function ask(
  execution: Execution,
  resolved: EvaluatedValue,
  open: OpenStep,
  { key, showInput }: Attempt,
): Promise<StepOutcome> {
  const { bonds, clock, effects, facts, journal, signal } = execution;
  showInput(storableJson(resolved.masked));
  const question = readAgentQuestion(resolved.value);
  await assertUnbound(execution, question);
  const record = await recordOf(execution, resolved);
  const call = {
    companyId: facts.companyId,
    requestId: facts.requestId,
    traceparent: facts.traceparent,
    runId: facts.id,
    key,
    secrets: bonds.values,
    timeoutMs: open.deadlineAt && Math.max(1, open.deadlineAt.getTime() - clock.now()),
  };
  journal.markStarted();
  const output = await effects.agents
    .ask(question, record, call, signal)
    .catch((error: unknown) => {
      // Providers quote what they were sent, in encodings of their own. Errors about an agent's inputs
      // are our own words.
      const isOurs = error instanceof StepError && error.code === "INVALID_INPUT";
      throw record === null || isOurs ? error : withoutWords(error);
    });
  return completionInTurns(execution, JSON.parse(output), true);
}

/** The bytes of what is sent, and of the masked copy if there is one. */
function bytesOf({ value, masked }: EvaluatedValue): number {
  const bytes = measureJson(value, QUESTION_BYTES_MAX);
  return masked === value ? bytes : bytes + measureJson(masked, QUESTION_BYTES_MAX);
}

/** All of the run's secrets go along with each question. */
function secretBytesOf({ bonds }: Execution): number {
  return bonds.values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
}

/** Templates refuse bound secrets here, but one may also come with an input, a row or an answer (D66). */
async function assertUnbound(
  { bonds }: Execution,
  { input, userMessage = "" }: AgentQuestion,
): Promise<void> {
  if (!(await bonds.isBoundIn([input, userMessage]))) return;
  throw new StepError(
    "SECRET_HOST_NOT_ALLOWED",
    "A secret in the question is bound to hosts (allowedHosts), so it may not be sent to an agent.",
    { retryable: false },
  );
}

/** The recordable form of a question with a secret in it; null where there is none. */
async function recordOf(
  { scrubber }: Execution,
  { value, masked }: EvaluatedValue,
): Promise<AgentRecord | null> {
  const clean = scrubber === null ? masked : await scrubber.jsonInTurns(masked);
  return clean === value ? null : readAgentRecord(clean);
}
