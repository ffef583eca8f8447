import { describe, expect, it } from "@jest/globals";
import { finishRequest } from "../src/build-request.ts";
import { findFailure, MissingFieldError, withOperatorCredentials } from "../src/index.ts";
import type { ProviderManifest } from "../src/index.ts";

const provider: ProviderManifest = {
  id: "example",
  name: "Example",
  description: "",
  category: "crm",
  docs: "https://example.test",
  baseUrl: "https://api.example.test",
  auth: { kind: "own" },
  sign: {},
  errors: { code: ["code"], message: ["message"] },
  actions: [],
};

describe("credentials of our own", () => {
  const own = {
    ...provider,
    operatorCredentials: { secret: "EXAMPLE_SECRET" },
    sign: { body: { secret: "{secret}", token: "{accessToken}" } },
  };
  const connection = { fields: {}, credentials: { accessToken: "theirs", secret: "forged" } };

  it("join the connection's, and win over what a body says", () => {
    const signed = withOperatorCredentials(own, connection, { EXAMPLE_SECRET: "ours" });
    const parts = {
      method: "POST" as const,
      path: "/things",
      query: {},
      headers: {},
      body: { secret: "mine", token: "mine", name: "x" },
    };
    const { body } = finishRequest(own, {}, parts, { access: signed });
    expect(JSON.parse(body ?? "")).toEqual({ secret: "ours", token: "theirs", name: "x" });
  });

  it("are named when they are not set", () => {
    expect(() => withOperatorCredentials(own, connection, {})).toThrow(/EXAMPLE_SECRET/);
    expect(() => withOperatorCredentials(own, connection, { EXAMPLE_SECRET: "" })).toThrow(
      MissingFieldError,
    );
  });
});

describe("credentials that are refused", () => {
  const strict = {
    ...provider,
    errors: {
      ...provider.errors,
      credentialCodes: ["BAD"],
      expiredCodes: ["EXPIRED"],
      permissionCodes: ["SCOPE"],
    },
  };

  it.each([
    [401, null, { badCredentials: true, expired: false }],
    [400, "BAD", { badCredentials: true, expired: false }],
    [400, "EXPIRED", { badCredentials: true, expired: true }],
    [401, "SCOPE", { badCredentials: false, expired: false }],
    [403, null, { badCredentials: false, expired: false }],
    [429, "EXPIRED", { badCredentials: false, expired: false }],
  ])("status %s with code %s", (status, code, wanted) => {
    expect(findFailure(strict, { status, headers: {}, body: { code } }, 0)).toMatchObject(wanted);
  });
});
