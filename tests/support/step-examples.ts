/** One step of each type, for docs/steps.md. */
export const STEP_EXAMPLES: Readonly<Record<string, object>> = {
  action: {
    id: "fetchOrder",
    type: "action",
    name: "Fetch the order",
    action: "http.request",
    config: { method: "GET", url: "https://shop.example.com/orders/{{input.orderId}}" },
    retry: { maxAttempts: 3, backoff: "exponential", delayMs: 500 },
  },
  email: {
    id: "tellCustomer",
    type: "email",
    name: "Tell the customer",
    config: {
      to: "{{input.email}}",
      subject: "Your order {{input.orderId}}",
      text: "It is on its way.",
      attachments: [
        { filename: "invoice.pdf", url: "https://shop.example.com/invoices/{{input.orderId}}" },
      ],
    },
  },
  transform: {
    id: "total",
    type: "transform",
    name: "Add up",
    config: { expression: "$sum(items.(price * quantity))", input: "{{input}}" },
  },
  condition: {
    id: "bySize",
    type: "condition",
    name: "Large or small",
    config: {
      branches: [
        {
          id: "large",
          when: { left: "{{input.total}}", operator: "greater_than", right: 1000 },
          steps: [
            { id: "flag", type: "transform", name: "Flag", config: { mapping: { review: true } } },
          ],
        },
      ],
      else: [],
    },
  },
  parallel: {
    id: "notifyAll",
    type: "parallel",
    name: "Notify everyone",
    config: {
      forEach: "{{input.urls}}",
      steps: [
        {
          id: "notify",
          type: "action",
          name: "Notify one",
          action: "http.request",
          config: { method: "POST", url: "{{loop.item}}", body: { order: "{{input.orderId}}" } },
        },
      ],
      strategy: "wait-all-settled",
      concurrency: 5,
    },
  },
  loop: {
    id: "pages",
    type: "loop",
    name: "Page after page",
    config: {
      while: {
        any: [
          { left: "{{loop.index}}", operator: "equals", right: 0 },
          { left: "{{steps.page.output.body.next}}", operator: "exists" },
        ],
      },
      steps: [
        {
          id: "page",
          type: "action",
          name: "One page",
          action: "http.request",
          config: {
            method: "GET",
            url: "https://shop.example.com/orders",
            query: { page: "{{loop.index}}" },
          },
        },
      ],
      maxIterations: 50,
    },
  },
  agent: {
    id: "classify",
    type: "agent",
    name: "Classify the request",
    config: {
      agentId: "agent_decision",
      input: { data: "{{input.message}}", decisionType: "classification" },
      overrides: { temperature: 0 },
    },
  },
  delay: {
    id: "coolOff",
    type: "delay",
    name: "Wait a day",
    config: { durationMs: 86_400_000 },
  },
  approval: {
    id: "release",
    type: "approval",
    name: "Release the payment",
    config: {
      message: "Pay {{input.amount}} to {{input.payee}}?",
      approvers: { users: ["cfo@example.com"], roles: ["owner"] },
      timeoutMs: 172_800_000,
      onTimeout: "reject",
      form: { type: "object", properties: { reference: { type: "string" } } },
    },
  },
  workflow: {
    id: "ship",
    type: "workflow",
    name: "Run the shipping workflow",
    config: {
      workflowId: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
      input: { orderId: "{{input.orderId}}" },
    },
  },
};

/** A config of each action, for docs/steps.md. */
export const ACTION_EXAMPLES: Readonly<Record<string, object>> = {
  "http.request": {
    method: "POST",
    url: "https://api.example.com/invoices",
    headers: { "x-source": "workflow" },
    auth: { type: "bearer", token: "{{secrets.API_TOKEN}}" },
    body: { amount: "{{input.amount}}" },
    successStatuses: ["2xx", 409],
  },
  "table.query": {
    tableId: "{{input.tableId}}",
    filter: { status: { values: ["open"] } },
    sort: "due",
    limit: 100,
  },
  "table.insert": { tableId: "{{input.tableId}}", data: { status: "open", due: "2026-01-31" } },
  "table.update": {
    tableId: "{{input.tableId}}",
    rowId: "{{input.rowId}}",
    data: { status: "done" },
    merge: true,
  },
  "table.delete": { tableId: "{{input.tableId}}", rowId: "{{input.rowId}}" },
  "json.parse": { text: "{{input.payload}}" },
  "json.stringify": { value: "{{input}}", indent: 2 },
  "text.template": {
    template: "Dear {{name}}, your order {{input.orderId}} has {{count}} items.",
    values: { name: "{{input.customer.name}}", count: "{{input.count}}" },
  },
  "datetime.format": {
    value: "{{run.startedAt}}",
    format: "d MMMM yyyy HH:mm",
    timezone: "Europe/Berlin",
  },
  "datetime.add": { value: "{{run.startedAt}}", amount: 14, unit: "days" },
  "datetime.diff": { from: "{{input.orderedAt}}", to: "{{run.startedAt}}", unit: "hours" },
  "crypto.hash": { algorithm: "sha256", text: "{{input.document}}" },
  "crypto.hmac": {
    algorithm: "sha256",
    text: "{{input.payload}}",
    key: "{{secrets.SIGNING_KEY}}",
    encoding: "base64",
  },
  "workflow.respond": { output: { accepted: true, id: "{{input.orderId}}" } },
};
