import { z } from "zod";
import { choice, files, json, list, number, text } from "../action-input.ts";
import type { ActionInput, InputTraits } from "../action-input.ts";
import type { InputRelations } from "../input-relations.ts";
import type { BlockSource } from "./block.ts";

const ANY = z.unknown();
const YEAR_MS = 366 * 86_400_000;

/** One of several branches. Exactly one of them is taken. */
function insteadOf(...others: readonly string[]): InputRelations {
  return { requiredWithout: others, notWith: others };
}

/** Steps within the step; the editor draws them inside of it. */
function steps(key: string, traits: Parameters<typeof list>[1] = {}): ActionInput {
  return list(key, { of: z.record(z.string(), ANY), control: "code", ...traits });
}

/** Addresses: a text with commas, or an array. */
function addresses(key: string, traits: InputTraits = {}): ActionInput {
  return {
    ...text(key, {
      description:
        "One address, several with commas between them, an array, or a template that gives any of these",
      ...traits,
    }),
    schema: z.union([z.string(), z.array(z.string()).min(1).max(50)]),
  };
}

const email: BlockSource = {
  type: "email",
  name: "Email",
  description: "Sends an e-mail with text, html or both.",
  kind: "core",
  category: "people",
  inputs: [
    addresses("to", { required: true }),
    addresses("cc", { title: "CC" }),
    addresses("bcc", { title: "BCC" }),
    text("from", { description: "The sender; the installation's by default" }),
    addresses("replyTo", { title: "Reply to" }),
    text("subject", { required: true, description: "One line" }),
    text("text", {
      control: "long-input",
      requiredWithout: ["html"],
      description: "The message as plain text",
    }),
    text("html", {
      title: "HTML",
      control: "code",
      requiredWithout: ["text"],
      description: "The message as HTML",
    }),
    files("attachments", {
      description:
        "{filename, content (base64) or url, contentType?} each; together at most 10 MiB",
    }),
    text("connectionId", {
      title: "Connection",
      control: "connection",
      description:
        "Id of a connection of a mail provider to send through; by default the run's when it is one, else the installation's mail server",
    }),
  ],
  outputs: ["messageId", "accepted", "rejected"],
};

const transform: BlockSource = {
  type: "transform",
  name: "Transform",
  description: "Computes a value by a mapping with templates or by a JSONata expression.",
  kind: "core",
  category: "data",
  inputs: [
    json("mapping", {
      schema: ANY,
      ...insteadOf("expression"),
      description: "Any JSON value with templates: the result",
    }),
    text("expression", {
      control: "code",
      ...insteadOf("mapping"),
      description: "JSONata; templates are not evaluated in it",
    }),
    json("input", {
      schema: ANY,
      description:
        "What the expression sees; where none is given, {input, steps, trigger, run, loop}",
    }),
  ],
};

const condition: BlockSource = {
  type: "condition",
  name: "Condition",
  description:
    "Takes the first branch whose condition holds, else the steps of else. Branches, or if with then.",
  kind: "core",
  category: "flow",
  inputs: [
    list("branches", {
      of: z.looseObject({ id: z.string(), when: ANY, steps: z.array(ANY) }),
      min: 1,
      control: "code",
      ...insteadOf("if"),
      description: "{id, when, steps} each",
    }),
    json("if", { schema: ANY, ...insteadOf("branches"), description: "A condition" }),
    steps("then", {
      onlyWith: "if",
      description: "Steps that run when it holds; needed with if",
    }),
    steps("else", { description: "Steps that run when no branch is taken" }),
  ],
  outputs: ["branch"],
};

const parallel: BlockSource = {
  type: "parallel",
  name: "Parallel",
  description:
    "Runs branches beside each other, or its steps for each item of an array: branches, or forEach with steps.",
  kind: "core",
  category: "flow",
  inputs: [
    choice("strategy", ["wait-all", "wait-all-settled", "wait-any", "fail-fast"], {
      description: "When the step ends; wait-all by default",
    }),
    number("concurrency", {
      schema: z.int().min(1).max(100),
      description: "How many branches or items run at one time",
    }),
    number("timeout", {
      schema: z
        .int()
        .min(1)
        .max(30 * 86_400_000),
      description: "Milliseconds for all branches together, waiting included",
    }),
    list("branches", {
      of: z.looseObject({ id: z.string().optional(), steps: z.array(ANY).min(1) }),
      min: 1,
      control: "code",
      ...insteadOf("forEach"),
      description: "{id?, name?, steps} each",
    }),
    list("forEach", {
      of: ANY,
      control: "code",
      ...insteadOf("branches"),
      description: "The steps run for each item of this array",
    }),
    steps("steps", {
      onlyWith: "forEach",
      min: 1,
      description: "Steps for each item; needed with forEach",
    }),
  ],
  outputs: ["branches"],
};

const loop: BlockSource = {
  type: "loop",
  name: "Loop",
  description: "Repeats its steps for each item, a number of times, or while a condition holds.",
  kind: "core",
  category: "flow",
  inputs: [
    list("items", {
      of: ANY,
      control: "code",
      ...insteadOf("count", "while"),
      description: "The array to iterate over; {{loop.item}} is the current item",
    }),
    number("count", {
      schema: z.int().min(0),
      ...insteadOf("items", "while"),
      description: "How often the steps run",
    }),
    json("while", {
      schema: ANY,
      ...insteadOf("items", "count"),
      description: "A condition that is evaluated before each iteration",
    }),
    steps("steps", { required: true, description: "Steps, run in this order" }),
    number("maxIterations", {
      schema: z.int().min(1).max(100_000),
      description: "The step fails when it needs more iterations; 1000 where it is not given",
    }),
  ],
};

const agent: BlockSource = {
  type: "agent",
  name: "Agent",
  description: "Asks an AI agent; the output is its answer, as its output schema says, or a text.",
  kind: "core",
  category: "ai",
  inputs: [
    text("agentId", { title: "Agent", required: true, description: "The agent to ask" }),
    json("input", { required: true, description: "What the agent works on, an object" }),
    text("userMessage", {
      control: "long-input",
      description: "What the agent is told beside its system prompt",
    }),
    json("overrides", { description: "Replaces settings of the agent for this call" }),
  ],
};

const delay: BlockSource = {
  type: "delay",
  name: "Delay",
  description: "Waits for a time or until a moment; exactly one of them.",
  kind: "core",
  category: "flow",
  inputs: [
    number("durationMs", {
      title: "Duration",
      ...insteadOf("until"),
      schema: z.int().min(0).max(YEAR_MS),
      description: "How long, in milliseconds",
    }),
    text("until", {
      ...insteadOf("durationMs"),
      description: "The moment, as an ISO timestamp; UTC without an offset",
    }),
  ],
  outputs: ["resumedAt"],
};

const approval: BlockSource = {
  type: "approval",
  name: "Approval",
  description: "Waits until somebody decides. A rejection fails the run.",
  kind: "core",
  category: "people",
  inputs: [
    text("message", {
      required: true,
      control: "long-input",
      description: "What is to be decided",
    }),
    json("approvers", {
      schema: z.object({
        users: z.array(z.string()).optional(),
        roles: z.array(z.enum(["owner", "admin", "member", "viewer"])).optional(),
        apiKeys: z.array(z.string()).optional(),
      }),
      description: "Who may decide; everyone who may execute workflows by default",
    }),
    number("timeoutMs", {
      title: "Timeout",
      schema: z.int().min(1).max(YEAR_MS),
      description: "The time to decide in milliseconds; unlimited by default",
    }),
    choice("onTimeout", ["fail", "approve", "reject"], {
      description: "What happens when nobody has decided by then; fail by default",
    }),
    json("form", { description: "JSON Schema of the data that comes with a decision" }),
  ],
  outputs: ["decision", "by", "comment", "data"],
};

/** The engine's type of steps with an action. The editor shows the blocks with actions instead. */
const action: BlockSource = {
  type: "action",
  name: "Action",
  description: "Calls the action that the step names.",
  kind: "core",
  hidden: true,
  inputs: [text("connectionId", { control: "connection" })],
};

/** Core blocks that are types of steps (D17); `workflow` is among those with actions. */
export const CORE_STEP_BLOCKS: readonly BlockSource[] = [
  action,
  email,
  transform,
  condition,
  parallel,
  loop,
  agent,
  delay,
  approval,
];
