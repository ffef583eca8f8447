/** For each core agent an input with all of its variables. */
export const CORE_AGENT_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  agent_extraction: {
    document: "INVOICE 0042\nAcme GmbH, Berlin\nTotal due: 1.190,00 €\nDue by 31.01.2026",
    schema: {
      type: "object",
      properties: {
        invoiceNumber: { type: "string", description: "As printed" },
        total: { $ref: "#/$defs/amount" },
        lines: { type: "array", items: { $ref: "#/$defs/line" } },
      },
      required: ["invoiceNumber", "total"],
      additionalProperties: false,
      $defs: {
        amount: { type: ["number", "null"] },
        line: { type: "object", properties: { amount: { $ref: "#/$defs/amount" } } },
      },
    },
    fields: [
      "invoiceNumber",
      { name: "total", type: "number", description: "With tax", required: true },
    ],
    documentType: "invoice",
    customInstructions: "The number is the one in the heading.",
  },
  agent_content: {
    contentType: "email",
    tone: "friendly",
    format: "html",
    recipient: "Dr. Ada <ada@example.com>",
    subject: "Your invoice 0042",
    context: "The invoice was paid twice, on 3 and 4 February.",
    keyPoints: ["We return 1,190.00 €", { point: "No action needed", weight: 2 }],
    customInstructions: "In English, at most 80 words.",
  },
  agent_transform: {
    data: { inv_no: "0042", amt: "1.190,00 €", note: null },
    sourceSchema: { type: "object", properties: { inv_no: { type: "string" } } },
    targetSchema: {
      type: "object",
      properties: { number: { type: "string" }, amount: { type: "number" } },
      required: ["number", "amount", "currency"],
    },
    mappingRules: ["inv_no → number", { from: "amt", to: "amount" }],
    defaultValues: { currency: "EUR" },
    customInstructions: "Amounts in euros.",
  },
  agent_decision: {
    data: { amount: 950, supplier: "Acme GmbH" },
    decisionType: "approval_routing",
    options: ["approve", { id: "manager", label: "Ask the manager" }, { value: "reject" }],
    criteria: ["The supplier is known", { criterion: "Budget is left", required: true }],
    thresholds: { autoApproveMax: 1000, minConfidence: 0.8 },
    context: "Acme GmbH has been a supplier since 2019.",
    customInstructions: "Suppliers of less than a year go to the manager.",
  },
};
