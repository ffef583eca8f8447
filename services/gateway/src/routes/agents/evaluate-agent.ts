import { cutJsonArray, isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonMembers } from "@workflow/json";
import type { AgentCase, AgentCaseResult } from "@workflow/proto/integrations/v1/agent_evaluations";
import { z } from "zod";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { agentOverrides, optional, questionFields } from "./agent-fields.ts";
import { agentErrorJson, QUESTION_BYTES_MAX, usageJson } from "./execution-json.ts";
import { evaluationSchema } from "./execution-schema.ts";

const CASES_MAX = 50;
/** An evaluation ends after five minutes and keeps the results so far. */
const TIMEOUT_MS = 330_000;
const EXPECTATIONS = ["equals", "schema", "expression"] as const;

const expectation = z
  .looseObject({
    equals: z.unknown().optional().describe("The JSON value that the output must equal."),
    schema: jsonObject.optional().describe("JSON Schema that the output must fit."),
    expression: z.string().optional().describe("JSONata over {input, output} that must give true."),
  })
  .refine(
    (given) => EXPECTATIONS.filter((name) => Object.hasOwn(given, name)).length === 1,
    "must have exactly one of equals, schema and expression",
  )
  .meta({
    id: "AgentExpectation",
    description: "Exactly one of these.",
    examples: [{ equals: { total: 129.5 } }],
    override: { oneOf: EXPECTATIONS.map((name) => ({ required: [name] })) },
  });

const agentCase = z
  .object({
    name: optional(z.string().meta({ maxLength: 255 })).describe(
      "For people, at most 255 characters.",
    ),
    ...questionFields,
    expect: expectation,
  })
  .meta({ id: "AgentCase", description: "A question and what its answer is to be." });

const agentCases = z
  .array(agentCase)
  .min(1, "must have at least one case")
  .max(CASES_MAX, `must have at most ${CASES_MAX} cases`);

/** Of a list that is too long, only that is reported. */
function refuseTooMany(cases: unknown, context: z.RefinementCtx): unknown {
  if (Array.isArray(cases) && cases.length > CASES_MAX) {
    context.addIssue(`must have at most ${CASES_MAX} cases`);
  }
  return cases;
}

export const evaluateAgent = route({
  method: "POST",
  path: "/agents/{id}/evaluate",
  scope: "workflows:execute",
  bucket: "execute",
  audit: null,
  summary: "Judge an agent by cases",
  description: [
    "The agent is asked for each of up to 50 cases, and the answers are compared with what is expected; nothing is recorded.",
    "The answer is 200 even when all cases fail: see `passed`, `failed` and `results`.",
    "Another `systemPrompt` may be judged before it becomes the agent's.",
    "Of a company one evaluation runs at a time, for five minutes at most, and its tokens count.",
  ],
  params: { id: "The agent's id, also that of a core agent." },
  query: NO_QUERY,
  body: {
    bytesMax: QUESTION_BYTES_MAX,
    schema: z
      .object({
        cases: z.preprocess(refuseTooMany, agentCases).describe("What to ask."),
        overrides: agentOverrides,
        systemPrompt: optional(z.string().meta({ minLength: 1, maxLength: 100_000 })).describe(
          "A prompt to judge before it becomes the agent's, 1 to 100,000 characters; not for core agents.",
        ),
      })
      .meta({ id: "AgentCases", description: "Cases by which to judge an agent." }),
  },
  responses: {
    200: {
      description: "What came of each case, in the order of the request.",
      data: evaluationSchema,
    },
  },
  errors: ["NOT_FOUND", "NOT_CONFIGURED"],
  endsWithClient: true,
  handler: async ({ agents, call }, { params, body, rawJson }) => {
    const evaluation = await agents.evaluateAgent(
      {
        agentId: params.id,
        cases: toCases(rawJson("cases") ?? "[]", body.cases),
        overrides: body.overrides,
        systemPrompt: body.systemPrompt,
      },
      { ...call, timeoutMs: TIMEOUT_MS },
    );
    const { results } = evaluation;
    const passed = results.filter((result) => result.passed).length;
    return {
      status: 200,
      data: {
        agentId: evaluation.agentId,
        agentVersion: evaluation.agentVersion,
        passed,
        failed: results.length - passed,
        total: results.length,
        results: results.map(caseJson),
        usage: usageJson(evaluation.usage),
        durationMs: evaluation.durationMs,
      },
    };
  },
});

/** The cases, with their documents as the texts that were sent. */
function toCases(array: string, cases: readonly z.output<typeof agentCase>[]): AgentCase[] {
  return cutJsonArray(array).map((element, index): AgentCase => {
    const members = membersOf(element);
    return {
      name: cases[index]?.name,
      inputJson: members.get("input") ?? "",
      userMessage: cases[index]?.userMessage,
      expect: toExpect(membersOf(members.get("expect") ?? "{}"), cases[index]?.expect.expression),
    };
  });
}

function toExpect(members: JsonMembers, expression: string | undefined): AgentCase["expect"] {
  if (expression !== undefined) return { $case: "expression", value: expression };
  const schema = members.get("schema");
  if (schema !== undefined) return { $case: "schemaJson", value: schema };
  return { $case: "equalsJson", value: members.get("equals") ?? "" };
}

function membersOf(text: string): JsonMembers {
  const members = scanJsonObject(text);
  if (isJsonProblem(members)) throw new Error("A part of a good document is not good.");
  return members;
}

function caseJson(result: AgentCaseResult): Writable {
  return {
    name: result.name ?? null,
    passed: result.passed,
    reason: result.reason ?? null,
    output: rawOrNull(result.outputJson),
    schemaValid: result.schemaValid ?? null,
    usage: usageJson(result.usage),
    durationMs: result.durationMs,
    error: agentErrorJson(result.error),
  };
}
