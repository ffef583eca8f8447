import { CALL_LATER, DECLINE } from "../world.ts";
import type { Agents } from "./agents.ts";

/** The objects that steps of the tour use. */
export interface Surroundings {
  worldUrl: string;
  /** Connections by provider. */
  connections: Readonly<Record<string, string>>;
  tableId: string;
  rowId: string;
  /** A workflow that returns its input, and one that throws its input. */
  childId: string;
  badChildId: string;
  agents: Agents;
}

const TOKEN = "{{secrets.TOKEN}}";
const FAR = "2999-01-01T00:00:00Z";

/** A step; `more` are fields beside its config. */
const step = (id: string, type: string, config: object, more: object = {}) => ({
  id,
  type,
  name: id,
  config,
  ...more,
});
const action = (id: string, name: string, config: object, more: object = {}) => ({
  ...step(id, "action", config, more),
  action: name,
});
const same = (id: string, value: unknown) => step(id, "transform", { mapping: value });

/** A call to the world outside with every kind of secret in every part. */
const call = ({ worldUrl }: Surroundings, id: string, path: string, config: object = {}) =>
  action(id, "http.request", {
    method: "POST",
    url: `${worldUrl}/world/${path}`,
    headers: { "x-token": "{{secrets.ASCII}}", "x-bound": "{{secrets.BOUND}}" },
    query: { key: TOKEN, note: "{{input.note}}" },
    body: { token: TOKEN, text: `it is ${TOKEN}.`, note: "{{input.note}}" },
    auth: { type: "basic", username: "ada", password: "{{secrets.BASIC}}" },
    ...config,
  });
const bearer = { type: "bearer", token: "{{secrets.BEARER}}" };
const mail = { to: "ada@x.example", subject: `About ${TOKEN}`, text: `{{input.note}} ${TOKEN}` };

/** Calls to providers that the tour has connected; each answers with all of its request. */
function providerCalls(surroundings: Surroundings) {
  const { worldUrl, connections } = surroundings;
  const by = (provider: string, name: string, config: object) => {
    const connectionId = connections[provider];
    return action(`${provider}_${name}`, `${provider}.${name}`, { connectionId, ...config });
  };
  const actions = [
    by("airwallex", "getBalances", {}),
    by("avalara", "getTransaction", { companyCode: "A", transactionCode: "T1" }),
    by("odoo", "getRecord", { model: "res.partner", id: 1 }),
    by("resend", "createContact", { email: "ada@x.example", first_name: TOKEN }),
    by("rillet", "createCustomer", { name: TOKEN }),
    by("sendgrid", "upsertContacts", { contacts: [{ email: "ada@x.example" }] }),
    by("google-mail", "listLabels", {}),
    by("hubspot", "getObject", { objectType: "contacts", objectId: "1" }),
    by("slack", "findUserByEmail", { email: "ada@x.example" }),
    by("plaid", "getAccounts", {}),
  ].filter(({ config }) => "connectionId" in config && config.connectionId !== undefined);
  const requests = Object.entries(connections)
    .filter(([provider]) => !["finance", "plaid"].includes(provider))
    .map(([provider, connectionId]) =>
      action(`signed_${provider}`, "http.request", {
        method: "POST",
        url: `${worldUrl}/${provider}/anything`,
        body: { token: TOKEN },
        auth: { type: "connection", connectionId },
      }),
    );
  return [...actions, ...requests];
}

/** Questions to agents with the secret in their inputs. */
const ask = (id: string, agentId: string, more: object = {}) =>
  step(
    id,
    "agent",
    { agentId, input: { token: TOKEN, note: "{{input.note}}" }, userMessage: `Mind ${TOKEN}.` },
    more,
  );

/** Steps that succeed, one of each kind at least; the last one is the run's answer. */
export function succeedingSteps(surroundings: Surroundings) {
  const { tableId, rowId, childId, connections, agents } = surroundings;
  return [
    call(surroundings, "send", "ok"),
    call(surroundings, "bear", "ok", { auth: bearer }),
    ...providerCalls(surroundings),
    action("insert", "table.insert", { tableId, data: { name: `${TOKEN} {{input.note}}` } }),
    action("query", "table.query", { tableId, filter: { name: { values: [TOKEN] } } }),
    action("update", "table.update", { tableId, rowId, data: { name: TOKEN } }),
    action("remove", "table.delete", { tableId, rowId: "{{steps.insert.output.id}}" }),
    action("parse", "json.parse", { text: "{{steps.send.output.body.echo.encoded[0].json}}" }),
    action("stringify", "json.stringify", { value: { a: TOKEN } }),
    action("fill", "text.template", { template: "{{a}}", values: { a: TOKEN } }),
    action("format", "datetime.format", { value: FAR, format: "yyyy" }),
    action("add", "datetime.add", { value: FAR, amount: 1, unit: "days" }),
    action("diff", "datetime.diff", { from: FAR, to: FAR, unit: "days" }),
    action("hash", "crypto.hash", { algorithm: "sha256", text: TOKEN }),
    action("hmac", "crypto.hmac", {
      algorithm: "sha256",
      text: "{{input.note}}",
      key: "{{secrets.BOUND}}",
    }),
    step("smtp", "email", mail),
    step("resend", "email", { ...mail, connectionId: connections["resend"], from: "a@x.example" }),
    same("keep", { own: TOKEN, echoed: "{{steps.send.output.body}}", note: "{{input.note}}" }),
    step("compute", "transform", { expression: "$keys($)", input: { "{{x}}": TOKEN } }),
    step("branch", "condition", {
      if: { left: TOKEN, operator: "contains", right: "p4ss" },
      // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
      then: [same("taken", TOKEN)],
    }),
    step("both", "parallel", {
      branches: [
        { id: "a", steps: [same("left", TOKEN)] },
        { id: "b", steps: [call(surroundings, "right", "ok")] },
      ],
    }),
    step("each", "parallel", { forEach: [TOKEN, "b"], steps: [same("item", "{{loop.item}}")] }),
    step("again", "loop", { items: [TOKEN], steps: [same("pass", "{{loop.item}}")] }),
    step("wait", "delay", { durationMs: 1 }),
    step("ask", "approval", { message: `Pay ${TOKEN}?` }),
    step("child", "workflow", { workflowId: childId, input: { token: TOKEN } }),
    ...Object.entries(agents.answering).map(([name, agentId]) => ask(`ask_${name}`, agentId)),
    action("answer", "workflow.respond", {
      output: { token: TOKEN, note: "{{input.note}}", all: "{{steps.keep.output}}" },
    }),
  ];
}

/** Steps that fail, each with a secret in what it may complain of. */
export function failingSteps(surroundings: Surroundings) {
  return [
    ...failingCalls(surroundings),
    ...failingActions(surroundings),
    ...failingMailAndTransforms(surroundings),
    ...failingBlocks(surroundings),
    ...failingAgents(surroundings),
    same("end", "{{input.note}}"),
  ];
}

function failingCalls(surroundings: Surroundings) {
  const { worldUrl, connections } = surroundings;
  const connectionId = connections["resend"];
  return [
    call(surroundings, "refused", "refuse"),
    call(surroundings, "unavailable", "down", { auth: bearer }),
    call(surroundings, "busy", "busy"),
    call(surroundings, "cut", "cut"),
    call(surroundings, "hung", "hang", { timeoutMs: 300 }),
    call(surroundings, "host", "ok", { url: "http://{{secrets.ASCII}}.invalid/", headers: {} }),
    call(surroundings, "noUrl", "ok", { url: TOKEN, headers: {} }),
    call(surroundings, "path", "ok", { url: "http://127.0.0.1:1/{{secrets.ASCII}}" }),
    call(surroundings, "header", "ok", { headers: { "x-token": `${TOKEN}\n` } }),
    call(surroundings, "verb", "ok", { method: TOKEN }),
    call(surroundings, "bound", "ok", { headers: { "x-token": "{{secrets.ELSEWHERE}}" } }),
    call(surroundings, "foreign", "ok", {
      url: `${worldUrl.replace("127.0.0.1", "localhost")}/world/ok`,
      headers: {},
      auth: { type: "connection", connectionId },
    }),
    call(surroundings, "moved", "ok", {
      url: `${worldUrl}/world/ok`,
      auth: { type: "connection", connectionId: TOKEN },
    }),
    action("declined", "rillet.createCustomer", {
      connectionId: connections["rillet"],
      name: `${DECLINE} ${TOKEN}`,
    }),
    // This step pauses its connection, so no later step can use it.
    action(
      "paused",
      "odoo.createContact",
      { connectionId: connections["odoo"], name: `${CALL_LATER} ${TOKEN}` },
      { timeoutMs: 1_000 },
    ),
    ...providerCalls(surroundings)
      .filter(({ id }) => !id.includes("odoo"))
      .map((each) => ({ ...each, id: `bad_${each.id}` })),
  ];
}

function failingActions({ tableId }: Surroundings) {
  return [
    action("insert", "table.insert", { tableId, data: TOKEN }),
    action("answer", "workflow.respond", { output: "{{secrets.BOUND}}" }),
    action("query", "table.query", { tableId, sort: TOKEN, filter: { nope: { values: [TOKEN] } } }),
    action("update", "table.update", { tableId, rowId: TOKEN, data: { name: TOKEN } }),
    action("remove", "table.delete", { tableId: TOKEN, rowId: TOKEN }),
    action("parse", "json.parse", { text: TOKEN }),
    action("stringify", "json.stringify", { value: TOKEN, indent: TOKEN }),
    action("fill", "text.template", { template: "{{a}}", values: TOKEN }),
    action("format", "datetime.format", { value: TOKEN, format: TOKEN }),
    action("add", "datetime.add", { value: TOKEN, amount: TOKEN, unit: TOKEN }),
    action("diff", "datetime.diff", { from: TOKEN, to: TOKEN, unit: TOKEN }),
    action("hash", "crypto.hash", { algorithm: TOKEN, text: TOKEN }),
    action("hmac", "crypto.hmac", { algorithm: TOKEN, text: "x", key: TOKEN }),
  ];
}

function failingMailAndTransforms({ connections }: Surroundings) {
  const connectionId = connections["resend"];
  return [
    step("missing", "transform", { mapping: "{{secrets.NOT_THERE}}" }),
    step("nobody", "email", { ...mail, to: TOKEN }),
    step("sender", "email", { ...mail, from: `${TOKEN}@x.example` }),
    step("smtp", "email", mail),
    step("resend", "email", { ...mail, connectionId, from: "a@x.example" }),
    step("throw", "transform", { expression: "$error($string($))", input: { a: TOKEN } }),
    step("number", "transform", { expression: "a + 1", input: { a: TOKEN } }),
    step("boundAway", "transform", { mapping: "{{secrets.BOUND}}" }),
  ];
}

function failingBlocks(surroundings: Surroundings) {
  const { childId, badChildId } = surroundings;
  return [
    step("branch", "condition", {
      branches: [
        {
          id: "a",
          when: { left: TOKEN, operator: "contains", right: "p4ss" },
          steps: [call(surroundings, "inBranch", "refuse")],
        },
      ],
    }),
    step("both", "parallel", {
      branches: [{ id: "a", steps: [call(surroundings, "inParallel", "refuse")] }],
    }),
    step("items", "parallel", { forEach: TOKEN, steps: [same("never", "{{loop.item}}")] }),
    step("again", "loop", { items: TOKEN, steps: [same("pass", "{{loop.item}}")] }),
    step("inside", "loop", {
      items: [TOKEN],
      steps: [step("throwItem", "transform", { expression: "$error($)", input: "{{loop.item}}" })],
    }),
    step("wait", "delay", { durationMs: TOKEN }),
    step("until", "delay", { until: TOKEN }),
    step("reject", "approval", { message: `Pay ${TOKEN}?` }),
    step("late", "approval", { message: `Pay ${TOKEN}?`, timeoutMs: 1 }),
    step("nowhere", "workflow", { workflowId: TOKEN, input: { token: TOKEN } }),
    step("child", "workflow", { workflowId: badChildId, input: { token: TOKEN } }),
    step("boundChild", "workflow", { workflowId: childId, input: "{{secrets.BOUND}}" }),
  ];
}

function failingAgents({ agents }: Surroundings) {
  return [
    ...Object.entries(agents.failing).map(([name, agentId]) =>
      ask(`ask_${name}`, agentId, name === "hangs" ? { timeoutMs: 500 } : {}),
    ),
    ask("noAgent", TOKEN),
    step("boundAsk", "agent", { agentId: agents.answering["writer"], input: "{{secrets.BOUND}}" }),
  ];
}
