import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { workflowSchema } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

describe("a workflow", () => {
  it("keeps its definition as JavaScript reads it, the order of keys and __proto__ included (D5)", async () => {
    const body = (mapping: string) =>
      `{"name":"Read","trigger":{"type":"api","type":"manual"},"steps":[{"id":"s","type":"transform","name":"s","config":{"mapping":${mapping}}}]}`;
    const answer = await system.call("POST", "/workflows", {
      raw: body(
        '{"z":1,"a":2,"a":3,"__proto__":{"polluted":true},"constructor":{"prototype":1},' +
          `"big":9007199254740993,"long":${"7".repeat(300)},"minus":-0,"text":"\\u00e9\\/"}`,
      ),
    });
    expect(answer.status).toBe(201);
    const stored =
      '{"z":1,"a":3,"__proto__":{"polluted":true},"constructor":{"prototype":1},' +
      `"big":9007199254740992,"long":${Number("7".repeat(300))},"minus":0,"text":"é/"}`;
    expect(answer.text).toContain(`"trigger":{"type":"manual"},"steps":[`);
    expect(answer.text).toContain(`"config":{"mapping":${stored}}`);
    const { id } = workflowSchema.parse(answer.data);
    expect((await system.call("GET", `/workflows/${id}`)).text).toBe(answer.text);
    expect(await system.call("POST", "/workflows", { raw: body('{"n":[1e999]}') })).toMatchObject({
      status: 400,
      error: {
        code: "VALIDATION_ERROR",
        details: [{ path: ["steps", "0", "config", "mapping", "n", "0"] }],
      },
    });
  });
});
