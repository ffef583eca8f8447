import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import { createActive, createWorkflow, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** The plan of D24; not one field more. */
const planSchema = z.strictObject({
  valid: z.boolean(),
  problems: z.array(z.strictObject({ path: z.array(z.string()), message: z.string().min(1) })),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      path: z.string(),
      type: z.string(),
      action: z.string().optional(),
      resolvedConfig: z.record(z.string(), z.unknown()),
    }),
  ),
  missing: z.strictObject({
    secrets: z.array(z.string()),
    connections: z.array(z.string()),
    connectionIds: z.array(z.string()),
    choices: z.array(z.string()),
    agents: z.array(z.string()),
  }),
  nextRunAt: z.array(z.iso.datetime()).length(5).optional(),
});

async function plan(id: string, body?: unknown): Promise<z.infer<typeof planSchema>> {
  const answer = await system.call("POST", `/workflows/${id}/plan`, { body });
  expect(answer.status).toBe(200);
  return planSchema.parse(answer.data);
}

const NOBODY = newUuid();

async function createAgent(name: string, key = system.acme.key): Promise<string> {
  const body = { name, type: "custom", systemPrompt: "Answer." };
  const { data } = await system.call("POST", "/agents", { body, key });
  return z.object({ id: z.string() }).parse(data).id;
}

const post = (id: string) => ({
  id,
  type: "action",
  name: id,
  action: "http.request",
  config: {
    method: "POST",
    url: "{{input.url}}",
    headers: { authorization: "Bearer {{secrets.TOKEN}}" },
    body: { order: "{{input.order}}", previous: "{{ steps.before.output }}" },
  },
});

describe("POST /workflows/{id}/plan", () => {
  it("shows what each step would get, secrets and what is not known yet as written (D24)", async () => {
    const id = await createActive(system, { steps: [transform("before", 1), post("send")] });
    const input = { url: "https://example.com", order: { id: 7 } };
    expect(await plan(id, { input })).toEqual({
      valid: true,
      problems: [],
      steps: [
        { id: "before", path: "before", type: "transform", resolvedConfig: { mapping: 1 } },
        {
          id: "send",
          path: "send",
          type: "action",
          action: "http.request",
          resolvedConfig: {
            method: "POST",
            url: "https://example.com",
            headers: { authorization: "Bearer {{secrets.TOKEN}}" },
            body: { order: { id: 7 }, previous: "{{ steps.before.output }}" },
          },
        },
      ],
      missing: { secrets: ["TOKEN"], connections: [], connectionIds: [], choices: [], agents: [] },
    });
  });

  it("names the secrets that are missing, and none that are there, without using them", async () => {
    const steps = [transform("a", ["{{secrets.HERE}}", "{{secrets.GONE}}"])];
    const id = await createActive(system, { steps });
    const secrets = `/workflows/${id}/secrets`;
    const created = await system.call("POST", secrets, {
      body: { key: "HERE", value: "very secret value" },
    });
    expect(created.status).toBe(200);
    const planned = await plan(id);
    expect(planned).toMatchObject({ valid: true, missing: { secrets: ["GONE"] } });
    expect(JSON.stringify(planned)).not.toContain("very secret value");
    const { data } = await system.call("GET", secrets);
    expect(data).toEqual([expect.objectContaining({ key: "HERE", lastUsedAt: null })]);
  });

  it("names the agents that cannot be asked, and none that can", async () => {
    const [kept, ended] = [await createAgent("Kept"), await createAgent("Ended")];
    await system.call("DELETE", `/agents/${ended}`);
    const foreign = await createAgent("Theirs", system.globex.key);
    const ask = (id: string, agentId: string) => ({
      id,
      type: "agent",
      name: id,
      config: { agentId, input: {} },
    });
    const id = await createActive(system, {
      steps: [
        ask("kept", kept),
        ask("shouted", kept.toUpperCase()),
        ask("core", "agent_decision"),
        ask("ended", ended),
        ask("again", ended),
        ask("foreign", foreign),
        ask("chosen", "{{input.agent}}"),
        ask("unknown", "{{input.nobody}}"),
        ask("misspelt", "agent_desicion"),
        ask("later", "{{steps.core.output.agent}}"),
      ],
    });
    const planned = await plan(id, {
      input: { agent: newUuid().replace(/.$/, "x"), nobody: NOBODY },
    });
    expect(planned.missing.agents).toEqual([
      ended,
      foreign,
      expect.stringMatching(/x$/),
      NOBODY,
      "agent_desicion",
    ]);
  });

  it("starts no run", async () => {
    const id = await createActive(system, { steps: [transform("a", 1)] });
    await plan(id, { input: {} });
    expect(await system.call("GET", `/workflows/${id}/runs`)).toMatchObject({ data: [] });
  });

  it("tells what would fail with this input, and nothing with a fitting one", async () => {
    const inputSchema = { type: "object", required: ["order"] };
    const { id } = await createWorkflow(system, {
      steps: [transform("before", 1), post("send")],
      inputSchema,
    });
    expect(await plan(id)).toMatchObject({
      valid: false,
      problems: [{ path: ["input", "order"] }],
    });
    expect(await plan(id, { input: { order: 1 } })).toMatchObject({
      valid: false,
      problems: [{ path: ["steps", "1", "config", "url"], message: "must be a string, not null" }],
    });
    expect(await plan(id, { input: { order: 1, url: "https://x.y" } })).toMatchObject({
      valid: true,
      problems: [],
    });
  });

  it("has the next firings of a schedule, and the field for schedules only", async () => {
    const trigger = { type: "schedule", cron: "0 9 * * MON", timezone: "Asia/Kathmandu" };
    const scheduled = await createWorkflow(system, { trigger });
    const { nextRunAt = [] } = await plan(scheduled.id);
    const times = nextRunAt.map((at) => new Date(at));
    expect(times.map((at) => at.toISOString().slice(11))).toEqual(times.map(() => "03:15:00.000Z"));
    expect(times.every((at) => at.getTime() > Date.now())).toBe(true);
    const other = await createWorkflow(system);
    expect(await plan(other.id)).not.toHaveProperty("nextRunAt");
  });

  it("is there in every status", async () => {
    const id = await createActive(system, { steps: [transform("a", "{{secrets.A}}")] });
    for (const change of ["pause", "activate"]) {
      await system.call("POST", `/workflows/${id}/${change}`);
      expect(await plan(id)).toMatchObject({ valid: true });
    }
    await system.call("DELETE", `/workflows/${id}`);
    expect(await plan(id)).toMatchObject({ valid: true, missing: { secrets: ["A"] } });
  });

  it.each([[{ input: [] }], [{ input: null }], [{ input: "x" }], [[]], ["text"]])(
    "answers 400 to the body %j",
    async (body) => {
      const { id } = await createWorkflow(system);
      const answer = await system.call("POST", `/workflows/${id}/plan`, { body });
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    },
  );

  it("answers 413 to an input of more than 1 MiB (D4)", async () => {
    const { id } = await createWorkflow(system);
    const body = { input: { big: "x".repeat(1024 * 1024) } };
    const answer = await system.call("POST", `/workflows/${id}/plan`, { body });
    expect(answer).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("answers 404 to another company", async () => {
    const { id } = await createWorkflow(system);
    const answer = await system.call("POST", `/workflows/${id}/plan`, { key: system.globex.key });
    expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });
});
