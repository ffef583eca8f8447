import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { createActive, runToEnd, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

const endpointSchema = z.object({ id: z.string(), secret: z.string() });

let system: WholeSystem;
let cli: Cli;
let receiver: HttpDouble;
let program: HttpDouble;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});
beforeEach(async () => {
  receiver = await startHttpDouble();
  program = await startHttpDouble();
});
afterEach(async () => {
  await receiver?.close();
  await program?.close();
});

describe("webhooks listen", () => {
  test("forwards each delivery once, as it was signed, and signs it with the secret", async () => {
    const workflowId = await createActive(system, { steps: [transform("a", { b: "ü" })] });
    const body = {
      name: "Back office",
      url: receiver.url,
      events: ["workflow.completed"],
      workflowIds: [workflowId],
    };
    const { data } = await system.call("POST", "/webhook-endpoints", { body });
    const { id, secret } = endpointSchema.parse(data);
    await runToEnd(system, workflowId);
    await waitFor(() => receiver.requests.length === 1);
    const args = [
      "webhooks",
      "listen",
      "--endpoint",
      id,
      "--interval",
      "1",
      "--forward",
      program.url,
    ];
    const listening = cli.start([...args, "--max", "2"], {
      env: { WORKFLOW_WEBHOOK_SECRET: secret },
    });
    await waitFor(() => listening.said.stderr.includes("Ready"));
    await runToEnd(system, workflowId);
    await runToEnd(system, workflowId);
    const ended = await listening.ended;
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(
      /^(outbound {2}workflow\.completed {2}whd_\w+ {2}200 {2}\d+ ms\n){2}$/,
    );
    expect(ended.stderr).not.toContain(secret);
    await waitFor(() => receiver.requests.length === 3);
    const [, ...later] = receiver.requests;
    expect(program.requests.map((request) => request.body).sort()).toEqual(
      later.map((request) => request.body).sort(),
    );
    const standard = new Webhook(secret);
    // What the service itself sends is signed in the same two ways.
    for (const { headers, body: text } of [...program.requests, ...later]) {
      const { "x-webhook-timestamp": timestamp, "x-webhook-signature": signature } = headers;
      const hex = createHmac("sha256", secret)
        .update(`${String(timestamp)}.${text}`)
        .digest("hex");
      expect(signature).toBe(`t=${String(timestamp)},v1=${hex}`);
      expect(() => standard.verify(text, flat(headers))).not.toThrow();
    }
  });

  test("forwards what came in, tells of a program that is away, and ends by Ctrl-C", async () => {
    await createActive(system, { trigger: { type: "webhook", path: "in" } });
    const gone = await startHttpDouble();
    await gone.close();
    const args = ["webhooks", "listen", "--inbound", "--interval", "1", "--forward"];
    const listening = cli.terminal([...args, program.url]);
    const away = cli.start([...args, gone.url, "--max", "1"]);
    await listening.shows("Ready");
    await waitFor(() => away.said.stderr.includes("Ready"));
    const sent = await fetch(`${system.origin}/webhooks/custom/${system.acme.id}/in`, {
      method: "POST",
      body: '{"order":7}',
    });
    expect(sent.status).toBe(200);
    await listening.shows(/inbound {2}.* 200 /);
    expect(program.requests.at(-1)).toMatchObject({
      body: '{"order":7}',
      headers: { "x-webhook-provider": "custom" },
    });
    listening.type("\u0003");
    expect(await listening.ended).toBe(0);
    expect(await away.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test.each([
    [["--forward", "http://localhost:3000"], "--endpoint"],
    [["--forward", "https://example.com", "--inbound"], "this machine"],
    [["--inbound"], "--forward"],
  ])("is refused with %j", async (args, message) => {
    const refused = await cli.run(["webhooks", "listen", ...args]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  test("does not begin for an endpoint that is not there", async () => {
    const args = ["webhooks", "listen", "--endpoint", "whe_nothing", "--forward", program.url];
    expect(await cli.run(args)).toMatchObject({ code: 5 });
  });
});

describe("webhooks test", () => {
  test("shows the receiver's answer", async () => {
    const body = { name: "Tested", url: receiver.url };
    const { data } = await system.call("POST", "/webhook-endpoints", { body });
    const { id } = endpointSchema.parse(data);
    expect((await cli.run(["webhooks", "endpoints"])).stdout).toContain(id);
    const taken = await cli.run(["webhooks", "test", id, "--event", "workflow.failed"]);
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining("taken: status 200") });
  });
});

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
