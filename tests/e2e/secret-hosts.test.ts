import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { auditOf } from "../support/audit-log.ts";
import { createWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/* D66: which hosts a secret may be bound to; that it goes to no other is in bound-secrets. */

const VALUE = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

describe("allowedHosts of a secret", () => {
  const path = (workflowId: string) => `/workflows/${workflowId}/secrets`;
  const newWorkflow = async () => (await createWorkflow(system)).id;
  const hostsOf = async (workflowId: string) => {
    const { data } = await system.call("GET", path(workflowId));
    return data;
  };

  it("are stored in one spelling, each once, and shown with the record", async () => {
    const workflowId = await newWorkflow();
    const given = ["API.Example.com.", "api.example.com", "*.Bücher.example", "0x7f.1", "[::0:1]"];
    const body = { key: "A", value: VALUE, allowedHosts: given };
    const allowedHosts = ["api.example.com", "*.xn--bcher-kva.example", "127.0.0.1", "[::1]"];
    expect(await system.call("POST", path(workflowId), { body })).toMatchObject({
      status: 200,
      data: { key: "A", allowedHosts },
    });
    expect(await hostsOf(workflowId)).toMatchObject([{ key: "A", allowedHosts }]);
  });

  it("are kept by another value, changed with one, and cleared by null", async () => {
    const workflowId = await newWorkflow();
    const change = async (body: object) => {
      const answer = await system.call("PUT", `${path(workflowId)}/A`, { body });
      expect(answer).toMatchObject({ status: 200 });
      return hostsOf(workflowId);
    };
    const first = { key: "A", value: VALUE, allowedHosts: ["a.example"] };
    await system.call("POST", path(workflowId), { body: first });
    expect(await change({ value: "other" })).toMatchObject([{ allowedHosts: ["a.example"] }]);
    expect(await change({ value: "v", allowedHosts: ["b.example"] })).toMatchObject([
      { allowedHosts: ["b.example"] },
    ]);
    const free = [expect.not.objectContaining({ allowedHosts: expect.anything() })];
    expect(await change({ value: "v", allowedHosts: null })).toEqual(free);
    expect(await change({ value: "v" })).toEqual(free);
  });

  it("cannot be loosened by who does not know the value", async () => {
    const workflowId = await newWorkflow();
    const first = { key: "A", value: VALUE, allowedHosts: ["a.example"] };
    await system.call("POST", path(workflowId), { body: first });
    const answer = await system.call("PUT", `${path(workflowId)}/A`, {
      body: { allowedHosts: null },
    });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["value"] }] },
    });
    expect(await hostsOf(workflowId)).toMatchObject([{ allowedHosts: ["a.example"] }]);
  });

  it.each([
    ["no list", "a.example", []],
    ["an empty list", [], []],
    ["21 hosts", Array.from({ length: 21 }, (_, n) => `h${n}.example`), []],
    ["a number", ["a.example", 5], ["1"]],
    ["an empty text", [""], ["0"]],
    ["a URL", ["https://a.example"], ["0"]],
    ["a path", ["a.example/b"], ["0"]],
    ["a port", ["a.example:8443"], ["0"]],
    ["the port of https", ["a.example:443"], ["0"]],
    ["an address with a port", ["[::1]:443"], ["0"]],
    ["a user", ["b@a.example"], ["0"]],
    ["a query", ["a.example?b"], ["0"]],
    ["a backslash", ["a.example\\b"], ["0"]],
    ["a space", ["a .example"], ["0"]],
    ["an escape", ["%61.example"], ["0"]],
    ["a wildcard within", ["a.*.example"], ["0"]],
    ["a wildcard as a part", ["a*.example"], ["0"]],
    ["a wildcard alone", ["*"], ["0"]],
    ["a wildcard for a top-level domain", ["*.com"], ["0"]],
    ["a wildcard for an address", ["*.127.0.0.1"], ["0"]],
    ["two wildcards", ["*.*.example.com"], ["0"]],
    ["an address without brackets", ["::1"], ["0"]],
    ["254 characters", [`${"a.".repeat(123)}examples`], ["0"]],
    ["what is no address", ["[::g]"], ["0"]],
  ])("are refused: %s", async (_what, allowedHosts, place) => {
    const workflowId = await newWorkflow();
    const refusal = {
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["allowedHosts", ...place] }] },
    };
    const created = { key: "A", value: VALUE, allowedHosts };
    expect(await system.call("POST", path(workflowId), { body: created })).toMatchObject(refusal);
    const replaced = await system.call("PUT", `${path(workflowId)}/A`, { body: created });
    expect(replaced).toMatchObject(refusal);
    expect(replaced.text).not.toContain(VALUE);
  });

  it("are in the audit log as what came and went, without the value", async () => {
    const workflowId = await newWorkflow();
    const changesOf = async (method: string, where: string, body?: object) => {
      const answer = await system.call(method, where, body === undefined ? {} : { body });
      expect(answer).toMatchObject({ status: 200 });
      const [event] = await auditOf(system, String(answer.headers.get("x-request-id")));
      expect(JSON.stringify(event)).not.toContain(VALUE);
      return event?.changes["allowedHosts"];
    };
    const secret = { key: "A", value: VALUE, allowedHosts: ["a.example", "b.example"] };
    expect(await changesOf("POST", path(workflowId), secret)).toMatchObject({
      added: ["a.example", "b.example"],
    });
    const one = `${path(workflowId)}/A`;
    expect(await changesOf("PUT", one, { value: VALUE })).toBeUndefined();
    expect(
      await changesOf("PUT", one, { value: VALUE, allowedHosts: ["b.example", "c.example"] }),
    ).toMatchObject({ added: ["c.example"], removed: ["a.example"] });
    expect(await changesOf("PUT", one, { value: VALUE, allowedHosts: null })).toMatchObject({
      removed: ["b.example", "c.example"],
    });
  });
});
