import { afterEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}`;

describe("the life of a gateway", () => {
  let test: TestGateway;

  afterEach(() => test.close());

  it("is ready when database and services are, and names what is missing otherwise", async () => {
    test = await startTestGateway();
    await waitFor(async () => (await call(test, "GET", "/readyz", { key: null })).status === 200);
    test.backends.workflowsServer.setServing(false);
    const answer = await waitFor(async () => {
      const answer = await call(test, "GET", "/readyz", { key: null });
      return answer.status === 503 ? answer : null;
    });
    expect(answer.body).toMatchObject({
      success: false,
      error: { code: "UNAVAILABLE", details: { missing: ["workflows"] } },
    });
    expect((await call(test, "GET", "/livez", { key: null })).status).toBe(200);
  });

  it("answers 503 while a service is away", async () => {
    test = await startTestGateway();
    await test.backends.workflowsServer.close(0);
    const answer = await call(test, "GET", PATH);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(answer.body).toMatchObject({ error: { code: "UNAVAILABLE" } });
  });

  it("finishes requests under way when it is stopped, and takes no new ones", async () => {
    test = await startTestGateway();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    test.backends.workflows.getWorkflow = async () => {
      await released;
      return makeWorkflow();
    };
    const underWay = call(test, "GET", PATH);
    await waitFor(() => test.backends.calls.length > 0);
    const stopped = test.gateway.stop();
    await waitFor(() =>
      call(test, "GET", "/livez").then(
        () => false,
        () => true,
      ),
    );
    release();
    const answer = await underWay;
    expect(answer.status).toBe(200);
    expect(answer.headers.get("connection")).toBe("close");
    await stopped;
  });
});
