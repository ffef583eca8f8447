import { expect } from "@jest/globals";
import { startOpenAiDouble } from "@workflow/testkit";
import type { AskedModel, ModelDouble } from "@workflow/testkit";
import { z } from "zod";
import { makeAgent } from "./agents.ts";
import { createActive, runToEnd } from "./scenarios.ts";
import type { Run } from "./scenarios.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { SystemOptions, WholeSystem } from "./whole-system.ts";

/** A whole system whose agents of the provider openai ask a double. */
export interface AskingSystem extends WholeSystem {
  openai: ModelDouble;
  /** An agent of acme that answers with text. */
  writerId: string;
  /** An agent of acme that answers with `{label, amount}`. */
  sorterId: string;
  /** A step that asks the writer, unless its config names another. */
  ask: (config?: object, more?: object) => Record<string, unknown>;
  /** Runs steps once as acme. */
  run: (steps: readonly object[], input?: unknown, more?: Record<string, unknown>) => Promise<Run>;
  /**
   * The whole executions of an agent, by default the writer, that a run has caused, newest first.
   */
  executionsOf: (runId: string, agentId?: string) => Promise<Execution[]>;
}

const LABEL_SCHEMA = {
  type: "object",
  properties: { label: { type: "string" }, amount: { type: "number" } },
  required: ["label", "amount"],
  additionalProperties: false,
};

const execution = z.looseObject({
  id: z.string(),
  status: z.string(),
  workflowRunId: z.string().nullish(),
});
type Execution = z.output<typeof execution>;

/** Starts a system; its double answers with a text until a test says otherwise. */
export async function startAskingSystem(
  options: Omit<SystemOptions, "agents"> = {},
): Promise<AskingSystem> {
  const openai = await startOpenAiDouble();
  const system = await startWholeSystem({ ...options, agents: { openai } });
  const { key } = system.acme;
  const writerId = await makeAgent(system, key);
  const sorterId = await makeAgent(system, key, { outputSchema: LABEL_SCHEMA });
  return {
    ...system,
    openai,
    writerId,
    sorterId,
    ask: (config = {}, more = {}) => ({
      id: "ask",
      type: "agent",
      name: "ask",
      config: { agentId: writerId, input: { text: "{{input.text}}" }, ...config },
      ...more,
    }),
    run: async (steps, input = { text: "Hi" }, more = {}) =>
      runToEnd(system, await createActive(system, { steps, ...more }), input),
    executionsOf: async (runId, agentId = writerId) => {
      const path = `/agents/${agentId}/executions`;
      const listed = await system.call("GET", `${path}?limit=100`);
      const all = z.array(execution).parse(listed.data);
      const own = all.filter(({ workflowRunId }) => workflowRunId === runId);
      return Promise.all(
        own.map(async ({ id }) => {
          const answer = await system.call("GET", `${path}/${id}`);
          expect(answer.status).toBe(200);
          return execution.parse(answer.data);
        }),
      );
    },
    async stop() {
      await system.stop();
      await openai.close();
    },
  };
}

/** The messages to a model, without those of the system. */
export function saidTo(asked: AskedModel | undefined): string {
  return asked?.messages.map(({ text }) => text).join("\n") ?? "";
}
