import type { Storyteller } from "./storyteller.ts";

/** The workflow of the story. */
function orderIntake(shop: string): Record<string, unknown> {
  return {
    name: "Order intake",
    description: "Books an order at the shop.",
    trigger: { type: "api" },
    inputSchema: {
      type: "object",
      properties: { customer: { type: "string" }, amount: { type: "number", minimum: 0 } },
      required: ["customer", "amount"],
    },
    steps: [
      {
        id: "greet",
        type: "transform",
        name: "Greet the customer",
        config: { mapping: { text: "Thank you for your order, {{input.customer}}." } },
      },
      {
        id: "book",
        type: "action",
        name: "Book the order",
        action: "http.request",
        config: {
          method: "POST",
          url: `${shop}/orders`,
          headers: { Authorization: "Bearer {{secrets.SHOP_TOKEN}}" },
          body: { amount: "{{input.amount}}", note: "{{steps.greet.output.text}}" },
        },
      },
    ],
  };
}

const CANVAS_BLOCK = {
  id: "greet",
  type: "transform",
  name: "Greet the customer",
  position: { x: 240, y: 120 },
  subBlocks: {},
  outputs: {},
  enabled: true,
  horizontalHandles: true,
};

/** The company writes its workflow, gives it its secret and activates it; returns the workflow's id. */
export async function tellOfWorkflow(story: Storyteller, shop: string): Promise<string> {
  const id = await story.make("createWorkflow", { body: orderIntake(shop) });
  const params = { id };
  await story.tell("planWorkflow", {
    params,
    body: { input: { customer: "Ada Lovelace", amount: 129.5 } },
  });
  const secrets = { workflowId: id };
  const secret = { key: "SHOP_TOKEN", value: "shop-token-8k3f2025" };
  await story.tell("createSecret", { params: secrets, body: secret });
  await story.tell("replaceSecret", {
    params: { ...secrets, key: "SHOP_TOKEN" },
    body: { value: "shop-token-1m7d2026" },
  });
  await story.tell("listSecrets", { params: secrets });
  await story.tell("activateWorkflow", { params });
  await story.tell("getWorkflow", { params });
  return id;
}

/** The company changes its mind and goes back, copies the workflow, and puts the copy away. */
export async function tellOfVersions(story: Storyteller, id: string): Promise<void> {
  const params = { id };
  await story.tell("updateWorkflow", {
    params,
    body: { name: "Order booking", changeSummary: "A better name" },
  });
  await story.tell("listVersions", { params });
  await story.tell("getVersion", { params: { ...params, version: "1" } });
  await story.tell("compareVersions", { params, query: { from: "1", to: "2" } });
  await story.tell("rollbackWorkflow", {
    params: { ...params, version: "1" },
    body: { changeSummary: "The old name was better" },
  });
  const exported = await story.tell("exportWorkflow", { params });
  const copy = await story.make("cloneWorkflow", { params, body: { name: "Order intake (copy)" } });
  await story.tell("saveCanvas", {
    params: { id: copy },
    body: {
      canvasState: {
        blocks: { greet: CANVAS_BLOCK },
        edges: [],
        loops: {},
        parallels: {},
        viewport: { x: 0, y: 0, zoom: 1 },
      },
    },
  });
  await story.tell("importWorkflow", { body: exported });
  await story.tell("listWorkflows", { query: { status: "active" } });
  await story.tell("deleteWorkflow", { params: { id: copy } });
  await story.tell("deleteSecret", { params: { workflowId: id, key: "SHOP_TOKEN" } });
}

/** The company has a report made every morning. */
export async function tellOfSchedule(story: Storyteller): Promise<void> {
  const body = {
    name: "Morning report",
    trigger: { type: "schedule", cron: "0 8 * * *", timezone: "UTC" },
    steps: [{ id: "day", type: "transform", name: "Begin", config: { mapping: { from: "0:00" } } }],
  };
  const id = await story.make("createWorkflow", { name: "scheduled", body });
  const params = { id };
  await story.tell("activateWorkflow", { name: "scheduled", params });
  await story.tell("updateSchedule", { params, body: { cron: "30 7 * * *" } });
  await story.tell("getSchedule", { params });
  await story.tell("triggerSchedule", { params });
  await story.tell("pauseWorkflow", { params });
}
