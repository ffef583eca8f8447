import { isJsonObject } from "@workflow/json";
import { z } from "zod";
import type { CompiledApprovalStep } from "../compiled-definition.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { parseOrThrow } from "../parse-or-throw.ts";
import { fieldsOf } from "../step.ts";
import { compileTemplates } from "../template.ts";
import type { StepType } from "./step-type.ts";

/** The roles of a person in a company (D10). */
const ROLES = ["owner", "admin", "member", "viewer"] as const;

const userNames = z
  .array(
    z
      .string()
      .min(1)
      .max(DEFINITION_LIMITS.nameCharsMax)
      .refine((name) => !name.includes("{{"), {
        error: "must be written out; templates are not evaluated here",
      }),
  )
  .max(DEFINITION_LIMITS.approversMax);

/** The key itself must not stand in a definition, which everyone with read access sees. */
const apiKeyIds = z
  .array(z.uuid({ error: "must be the id of an API key, not the key itself" }))
  .max(DEFINITION_LIMITS.approversMax);

const options = z.looseObject({
  approvers: z
    .looseObject({
      users: userNames.default([]).meta({ description: "Ids or e-mail addresses of users" }),
      roles: z
        .array(z.enum(ROLES))
        .max(DEFINITION_LIMITS.approversMax)
        .default([])
        .meta({ description: "Roles in the company" }),
      apiKeys: apiKeyIds.default([]).meta({ description: "Ids of API keys" }),
    })
    .refine(({ users, roles, apiKeys }) => users.length + roles.length + apiKeys.length > 0, {
      error:
        "must name at least one user, role or API key; leave approvers out to let everyone decide",
    })
    .optional()
    .meta({
      description: `Who alone may decide: users by id or e-mail address, roles (${ROLES.join(", ")}) and API keys by id; by default everyone who may execute workflows`,
    }),
  timeoutMs: z
    .int()
    .min(1)
    .max(DEFINITION_LIMITS.delayMsMax)
    .optional()
    .meta({ description: "The time to decide in milliseconds; unlimited by default" }),
  onTimeout: z
    .enum(["fail", "approve", "reject"])
    .default("fail")
    .meta({ description: "What happens when nobody has decided by then" }),
});

const configSchema = options.extend({
  message: z.string().min(1).meta({ description: "What is to be decided" }),
  form: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: "JSON Schema of the data that comes with a decision" }),
});

/** Waits for a person to decide (D17, D29). */
export const approvalStep: StepType = {
  type: "approval",
  title: "Approval",
  description:
    "Waits until a person approves or rejects. The run is waiting_approval meanwhile. A rejection fails the step. The output is {decision, by, comment, data}.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    const configPath = [...stepPath, "config"];
    problems.parse(configSchema, config, configPath);
    const { form } = config;
    if (isJsonObject(form)) problems.trySchema(form, [...configPath, "form"]);
  },

  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, ["message"]),

  compile({ config }, base): CompiledApprovalStep {
    const { approvers, timeoutMs, onTimeout } = parseOrThrow(options, config, base.path);
    const { message, form } = config;
    return {
      ...base,
      type: "approval",
      message: compileTemplates(message),
      approvers: approvers && {
        users: approvers.users,
        roles: approvers.roles,
        apiKeys: approvers.apiKeys,
      },
      decisionTimeoutMs: timeoutMs,
      onTimeout,
      form: isJsonObject(form) ? form : undefined,
    };
  },
};
