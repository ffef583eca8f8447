import { describe, expect, it } from "@jest/globals";
import { generateSigningKey } from "@workflow/rpc";
import { readConfig } from "../src/config.ts";

const env = {
  DATABASE_URL: "postgresql://user:pass@db/workflow",
  NATS_URL: "nats://bus:4222",
  INTERNAL_TOKEN_PRIVATE_KEY: generateSigningKey().privateKeyPem,
};

describe("the gateway's settings", () => {
  it("have defaults for all but the database, the bus and the signing key", () => {
    expect(readConfig(env)).toMatchObject({
      PORT: 8080,
      WORKFLOWS_GRPC_ADDR: "127.0.0.1:50051",
      RUNS_GRPC_ADDR: "127.0.0.1:50052",
      METRICS_PORT: 9464,
    });
  });

  it("are all named at once when they are missing or wrong", () => {
    expect(() => readConfig({ PORT: "seventy" })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /(?=[\s\S]*PORT)(?=[\s\S]*DATABASE_URL)(?=[\s\S]*INTERNAL_TOKEN_PRIVATE_KEY)/,
        ),
      }),
    );
  });

  it("refuse inbound webhooks over TLS where nothing could be trusted, by the setting's name", () => {
    const refusal = expect.objectContaining({
      message: expect.stringContaining("WEBHOOKS_HTTP_TLS: needs GRPC_TLS_CA_FILE"),
    });
    expect(() => readConfig({ ...env, WEBHOOKS_HTTP_TLS: "true" })).toThrow(refusal);
    const trusting = { ...env, WEBHOOKS_HTTP_TLS: "true", GRPC_TLS_CA_FILE: "/keys/ca.pem" };
    expect(readConfig(trusting)).toMatchObject({ WEBHOOKS_HTTP_TLS: true });
    const unclear = { ...env, WEBHOOKS_HTTP_TLS: "perhaps" };
    expect(() => readConfig(unclear)).toThrow("WEBHOOKS_HTTP_TLS");
  });
});
