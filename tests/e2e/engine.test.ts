import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, startSmtpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, SmtpDouble } from "@workflow/testkit";
import { z } from "zod";
import { createActive, runToEnd, startRun, transform, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let shop: HttpDouble;
let mail: SmtpDouble;

beforeAll(async () => {
  mail = await startSmtpDouble();
  shop = await startHttpDouble(({ path }) => ({ body: { path, stock: path.length } }));
  system = await startWholeSystem({
    mail: { smtpUrl: mail.url, emailFrom: "Shop <shop@shop.example>" },
  });
});
afterAll(async () => {
  await system.stop();
  await shop.close();
  await mail.close();
});

const step = (id: string, type: string, config: object, more: object = {}) => ({
  id,
  type,
  name: id,
  config,
  ...more,
});
const action = (id: string, name: string, config: object) =>
  step(id, "action", config, { action: name });

const approvalSchema = z.object({ id: z.string(), path: z.string(), status: z.string() });

async function decideAll(runId: string, decision: string, count: number): Promise<void> {
  const waiting = await waitFor(
    async () => {
      const { data } = await system.call("GET", `/runs/${runId}/approvals`);
      const open = z
        .array(approvalSchema)
        .parse(data)
        .filter(({ status }) => status === "waiting");
      return open.length === count ? open : null;
    },
    { what: `${count} approvals` },
  );
  for (const { id } of waiting) {
    const answer = await system.call("POST", `/runs/${runId}/approvals/${id}`, {
      body: { decision, comment: "as agreed" },
    });
    expect(answer.status).toBe(200);
  }
}

/** The steps of an order, whose price is a run of another workflow. */
function orderSteps(pricingId: string): object[] {
  return [
    step("lookup", "parallel", {
      forEach: "{{input.items}}",
      concurrency: 2,
      steps: [
        action("get", "http.request", { method: "GET", url: `${shop.url}/{{loop.item}}` }),
        transform("stock", { item: "{{loop.item}}", stock: "{{steps.get.output.body.stock}}" }),
      ],
    }),
    step("price", "workflow", {
      workflowId: pricingId,
      input: { items: "{{steps.lookup.output}}" },
    }),
    step("checks", "parallel", {
      strategy: "wait-all",
      branches: [
        {
          id: "people",
          steps: [step("ask", "approval", { message: "Pay {{steps.price.output}}?" })],
        },
        {
          id: "pause",
          steps: [
            step("rounds", "loop", {
              count: 2,
              steps: [step("rest", "delay", { durationMs: 20 })],
            }),
          ],
        },
      ],
    }),
    step("mail", "email", {
      to: "{{input.customer}}",
      subject: "Order for {{steps.price.output}}",
      text: "{{steps.ask.output.decision}}",
    }),
    action("respond", "workflow.respond", {
      output: { price: "{{steps.price.output}}", mailed: "{{steps.mail.output.accepted}}" },
    }),
    transform("never", 1),
  ];
}

describe("an order that needs everything", () => {
  it("looks up each item, asks for approval, calls a sub-workflow and sends a mail", async () => {
    const pricing = await createActive(system, {
      name: "Pricing",
      steps: [step("price", "transform", { expression: "$sum(input.items.stock) * 2" })],
    });
    const order = await createActive(system, { name: "Order", steps: orderSteps(pricing) });
    const runId = await startRun(system, order, {
      items: ["ab", "abcd"],
      customer: "Ada <ada@home.example>",
    });
    await decideAll(runId, "approved", 1);
    const run = await waitForRun(system, runId);
    expect(run).toMatchObject({
      status: "completed",
      output: { price: 16, mailed: ["ada@home.example"] },
    });
    expect(mail.messages).toHaveLength(1);
    expect(mail.messages[0]).toMatchObject({ to: ["ada@home.example"], body: "approved\r\n" });
    const paths = run.stepResults.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "lookup[1].stock",
        "checks.people.ask",
        "checks.pause.rounds[1].rest",
      ]),
    );
    expect(paths).not.toContain("never");
  });
});

describe("the actions that compute", () => {
  it("give what their table says (D17)", async () => {
    const workflowId = await createActive(system, {
      steps: [
        action("parse", "json.parse", { text: '{"a":[1,2]}' }),
        action("text", "json.stringify", { value: "{{steps.parse.output.value}}" }),
        action("hello", "text.template", { template: "Hi {{name}}!", values: { name: "Ada" } }),
        action("later", "datetime.add", {
          value: "2026-01-31T00:00:00Z",
          amount: 1,
          unit: "months",
        }),
        action("day", "datetime.format", {
          value: "{{steps.later.output.value}}",
          format: "yyyy-MM-dd",
        }),
        action("days", "datetime.diff", {
          from: "2026-01-01T00:00:00Z",
          to: "2026-01-03T12:00:00Z",
          unit: "days",
        }),
        action("hash", "crypto.hash", { algorithm: "sha256", text: "abc" }),
        transform("all", {
          text: "{{steps.text.output.text}}",
          hello: "{{steps.hello.output.text}}",
          day: "{{steps.day.output.text}}",
          days: "{{steps.days.output.value}}",
          digest: "{{steps.hash.output.digest}}",
        }),
      ],
    });
    expect((await runToEnd(system, workflowId)).output).toEqual({
      text: '{"a":[1,2]}',
      hello: "Hi Ada!",
      day: "2026-02-28",
      days: 2.5,
      digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    });
  });
});

describe("a step that needs what the installation lacks", () => {
  it("says NOT_CONFIGURED for an agent", async () => {
    const failing = step("s", "agent", { agentId: "agent_content", input: { subject: "x" } });
    const workflowId = await createActive(system, { steps: [failing] });
    const run = await runToEnd(system, workflowId);
    expect(run.error).toMatchObject({ code: "NOT_CONFIGURED" });
  });
});
