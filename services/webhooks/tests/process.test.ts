import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { generateSigningKey } from "@workflow/rpc";
import { freePort } from "@workflow/testkit";
import { z } from "zod";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** Starts the process with settings that are all right, and these. */
async function startWith(changed: Record<string, string>) {
  const { privateKeyPem, publicKeyPem } = generateSigningKey();
  const env = {
    PATH: process.env["PATH"],
    // Nobody is there: a start that gets so far waits.
    DATABASE_URL: `postgresql://somebody@127.0.0.1:${await freePort()}/workflow`,
    NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    METRICS_PORT: "0",
    SECRETS_KEK: randomBytes(32).toString("base64"),
    INTERNAL_TOKEN_PRIVATE_KEY: privateKeyPem,
    INTERNAL_TOKEN_PUBLIC_KEYS: `gateway=${Buffer.from(publicKeyPem).toString("base64")}`,
    ...changed,
  };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const [exitCode] = await once(child, "close");
  return { exitCode: z.number().parse(exitCode), output };
}

describe("the webhooks service as a process", () => {
  it.each([
    ["without a certificate", { WEBHOOKS_HTTP_TLS: "true" }, "needs GRPC_TLS_CERT_FILE"],
    ["with a word that says neither", { WEBHOOKS_HTTP_TLS: "perhaps" }, "expected true or false"],
  ])("ends when it is told to speak TLS %s, and names the setting", async (_how, given, why) => {
    const { exitCode, output } = await startWith(given);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/WEBHOOKS_HTTP_TLS: /);
    expect(output).toContain(why);
  });

  it("ends when a file of certificates holds none, and names the setting", async () => {
    const { exitCode, output } = await startWith({
      WEBHOOKS_HTTP_TLS: "true",
      GRPC_TLS_CERT_FILE: MAIN,
      GRPC_TLS_KEY_FILE: MAIN,
    });
    expect(exitCode).toBe(1);
    expect(output).toContain("GRPC_TLS_CERT_FILE: ");
  });
});
