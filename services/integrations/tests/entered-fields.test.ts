import { describe, expect, it } from "@jest/globals";
import { errorOf } from "./support/harness.ts";
import { asCaller, useConnections } from "./support/connections-bench.ts";

const bench = useConnections();

describe("a host that a caller enters", () => {
  it.each(["a.example:99999", "1.2.3.256", "a.example.1", "127.0.0.1", "169.254.169.254"])(
    "%s is refused with the name of the field",
    async (domain) => {
      const fields = { domain };
      const request = { provider: "odoo", connectionId: "", name: "", apiKey: "key", fields };
      const error = await errorOf(
        bench.replicas.one.connectApiKey(request, { identity: asCaller }),
      );
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.violations).toEqual([expect.objectContaining({ path: ["domain"] })]);
    },
  );
});

describe("a field that becomes part of requests", () => {
  it.each([
    ["accountId", "2000:x"],
    ["accountId", "admin"],
    ["accountId", "20 00"],
    ["companyCode", ".."],
    ["companyCode", "."],
    ["companyCode", "C".repeat(26)],
  ])("is refused by its name in the form of another thing: %s %s", async (name, value) => {
    const fields = { accountId: "2000", environment: "sandbox", [name]: value };
    const request = { provider: "avalara", connectionId: "", name: "", apiKey: "key", fields };
    const error = await errorOf(bench.replicas.one.connectApiKey(request, { identity: asCaller }));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations).toEqual([expect.objectContaining({ path: [name] })]);
    expect(bench.server.requests).toEqual([]);
  });
});
