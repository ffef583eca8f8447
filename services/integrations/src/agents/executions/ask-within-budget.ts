import { admitCall, settleCall } from "../../store/agent-calls.ts";
import type { AgentAnswer, AgentQuestion } from "../agent-answer.ts";
import { beginCall, usedWithoutAnswer } from "./agent-call.ts";
import type { AgentCallContext } from "./agent-call.ts";

/**
 * Asks an agent without a record; its tokens count.
 *
 * @throws AgentInputError or ModelCallError, as PrepareQuestion and its `ask` do
 * @throws AppError RATE_LIMITED when the company's day has no tokens left; the signal's reason when it
 * was aborted
 */
export async function askWithinBudget(
  context: AgentCallContext,
  question: AgentQuestion,
): Promise<AgentAnswer> {
  const { database, logger } = context;
  const call = await beginCall(context, question, (newCall) => admitCall(database, newCall));
  if (call === null) throw new Error("A call without a key can't be known.");
  let used = 0;
  try {
    const answer = await call.ask();
    used = answer.usage.totalTokens;
    return answer;
  } catch (error) {
    used = usedWithoutAnswer(
      call,
      error,
      question.signal.aborted && !context.heldCalls.isStopping(),
    );
    throw error;
  } finally {
    try {
      await settleCall(database, call.claim, used);
    } catch (error) {
      // The sweep releases the held tokens later. The answer is worth more than its count.
      logger.warn({ err: error }, "the tokens of an agent's call were not counted");
    }
    call.held.letGo();
  }
}
