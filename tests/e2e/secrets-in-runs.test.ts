import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { createActive, createWorkflow, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { postSecret, putSecret, removeSecret, listSecrets } from "../support/secrets.ts";

let system: WholeSystem;
/** Answers with the token of the request. */
let receiver: HttpDouble;
beforeAll(async () => {
  system = await startWholeSystem();
  receiver = await startHttpDouble((request) => ({
    headers: { "content-type": "text/plain" },
    body: `You said ${String(request.headers["x-token"])}`,
  }));
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

const newWorkflow = async () => (await createWorkflow(system)).id;

describe("a run", () => {
  const VALUE = "correct horse/battery+staple";

  /** An active workflow whose step sends the secret TOKEN, which may not exist yet. */
  const senderOf = (path: string) =>
    createActive(system, {
      steps: [
        {
          id: "send",
          type: "action",
          name: "Send",
          action: "http.request",
          config: {
            method: "GET",
            url: `${receiver.url}/${path}`,
            headers: { "x-token": "{{secrets.TOKEN}}" },
          },
        },
      ],
    });

  const received = (path: string) =>
    receiver.requests
      .filter((request) => request.path === `/${path}`)
      .map((request) => request.headers["x-token"]);

  it("uses the value of its moment, notes the use and shows the value nowhere", async () => {
    const workflowId = await senderOf("used");
    await postSecret(system, workflowId, { key: "TOKEN", value: VALUE });
    await postSecret(system, workflowId, { key: "IDLE", value: "idle" });
    const run = await runToEnd(system, workflowId);
    expect(run).toMatchObject({ status: "completed" });
    expect(received("used")).toEqual([VALUE]);
    for (const path of [`/runs/${run.id}`, `/runs/${run.id}/logs`]) {
      const { text } = await system.call("GET", path);
      expect(text).toContain("••••");
      expect(text).not.toContain("horse");
    }
    const uses = await waitFor(async () => {
      const secrets = await listSecrets(system, workflowId);
      const used = secrets.find(({ key }) => key === "TOKEN");
      return used !== undefined && used.lastUsedAt !== null ? secrets : null;
    });
    expect(uses).toMatchObject([{ key: "IDLE", lastUsedAt: null }, { key: "TOKEN" }]);

    await putSecret(system, workflowId, "TOKEN", { value: "another" });
    expect(await runToEnd(system, workflowId)).toMatchObject({ status: "completed" });
    expect(received("used")).toEqual([VALUE, "another"]);
  });

  it("fails at once with MISSING_SECRET when there is none, until it is stored again", async () => {
    const workflowId = await senderOf("missing");
    await postSecret(system, workflowId, { key: "TOKEN", value: VALUE });
    await removeSecret(system, workflowId, "TOKEN");
    expect(await runToEnd(system, workflowId)).toMatchObject({
      status: "failed",
      error: { code: "MISSING_SECRET" },
      stepResults: [{ stepId: "send", status: "error", attempt: 1 }],
    });
    expect(received("missing")).toEqual([]);
    await postSecret(system, workflowId, { key: "TOKEN", value: VALUE });
    expect(await runToEnd(system, workflowId)).toMatchObject({ status: "completed" });
  });

  it("sees only the secrets of its own workflow", async () => {
    const workflowId = await senderOf("foreign");
    const other = await newWorkflow();
    await postSecret(system, other, { key: "TOKEN", value: VALUE });
    expect(await runToEnd(system, workflowId)).toMatchObject({
      status: "failed",
      error: { code: "MISSING_SECRET" },
    });
  });
});
