import { expect, it } from "@jest/globals";
import { generateSigningKey } from "@workflow/rpc";
import { readConfig } from "../src/config.ts";

it("a task runtime that this version does not have is refused, not ignored", () => {
  const { privateKeyPem, publicKeyPem } = generateSigningKey();
  const key = Buffer.from(publicKeyPem).toString("base64");
  const env = {
    DATABASE_URL: "postgres://runs@db/workflow",
    NATS_URL: "nats://bus:4222",
    INTERNAL_TOKEN_PRIVATE_KEY: privateKeyPem,
    INTERNAL_TOKEN_PUBLIC_KEYS: `gateway=${key},workflows=${key}`,
  };
  expect(readConfig(env).TASK_RUNTIME).toBe("postgres");
  expect(() => readConfig({ ...env, TASK_RUNTIME: "restate" })).toThrow(
    'TASK_RUNTIME: "restate" is not available in this version; use "postgres"',
  );
});
