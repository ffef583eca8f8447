import { describe, expect, it } from "@jest/globals";
import { createLogger } from "@workflow/service";
import { createDispatcherRoute } from "../src/inbound/dispatcher.ts";
import type { InboundMessage, Intake } from "../src/domain/inbound-message.ts";
import type { InboundRequest } from "../src/inbound/inbound-request.ts";
import type { ProviderHandler } from "../src/inbound/provider-handler.ts";
import { createGithubHandler } from "./support/github-handler.ts";
import { hmac } from "./support/inbound-senders.ts";
import type { Headers } from "./support/inbound-senders.ts";

describe("a handler of another provider", () => {
  const accepted: InboundMessage[] = [];
  const intake: Intake = {
    async accept(message) {
      accepted.push(message);
      return { eventId: "evt_1", workflowsTriggered: 3 };
    },
    async refuse() {
      // Nothing is kept here.
    },
  };
  const logger = createLogger({ name: "test", level: "silent" });
  const context = { intake, requireSignature: true, logger };
  const requestOf = (body: string, headers: Headers): InboundRequest => ({
    path: "github",
    query: new URLSearchParams(),
    url: "https://workflows.example/webhooks/github",
    headers: new Map(headers.map(([name, value]) => [name, [value]])),
    rawBody: Buffer.from(body),
    requestId: "r",
    receivedAt: new Date(),
  });

  it("is a file with four functions", async () => {
    const route = createDispatcherRoute(context, createGithubHandler(["shared"]));
    const body = '{"action":"opened","installation":{"id":42}}';
    const headers: Headers = [
      ["x-hub-signature-256", `sha256=${hmac("shared", body)}`],
      ["x-github-event", "issues"],
      ["x-github-delivery", "d-1"],
    ];
    const answer = await route(requestOf(body, headers));
    expect(answer).toEqual({ status: 200, body: { received: true, count: 3 } });
    expect(accepted).toMatchObject([
      { provider: "github", receivers: { accountIds: ["42"] }, externalEventId: "d-1" },
    ]);
    expect((await route(requestOf(`${body} `, headers))).status).toBe(401);
  });

  it("that throws while it verifies ends in a verification error", async () => {
    const broken: ProviderHandler<never> = {
      provider: "broken",
      verify() {
        throw new Error("no key");
      },
      parse: () => [],
      accountsOf: () => [],
      normalise: () => ({ eventType: null, externalEventId: null, dataJson: "null" }),
    };
    const answer = await createDispatcherRoute(context, broken)(requestOf("{}", []));
    expect(answer).toEqual({ status: 500, body: { error: "Verification error" } });
  });
});
