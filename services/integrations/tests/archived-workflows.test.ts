import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { archivedEvent, errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("when a workflow was archived", () => {
  it("its secrets are gone, those of others stay", async () => {
    const [identity, stranger] = [newIdentity(), newIdentity()];
    const [workflowId, other] = [newUuid(), newUuid()];
    const { client } = harness;
    const secret = { key: "A", value: "value" };
    await client.createSecret({ ...secret, workflowId }, { identity });
    await client.createSecret({ ...secret, workflowId, key: "B" }, { identity });
    await client.createSecret({ ...secret, workflowId: other }, { identity });
    await client.createSecret({ ...secret, workflowId }, { identity: stranger });
    const event = archivedEvent(identity, workflowId);
    await harness.bus.publish([event]);
    // At least once: the same and another event about the same workflow change nothing.
    await harness.bus.publish([event, archivedEvent(identity, workflowId)]);

    const keys = ["A", "B"];
    expect(await client.listSecrets({ workflowId }, { identity })).toEqual({ secrets: [] });
    expect(await client.resolveSecrets({ workflowId, keys }, { identity })).toEqual({
      values: {},
      bound: {},
    });
    for (const untouched of [
      client.resolveSecrets({ workflowId: other, keys }, { identity }),
      client.resolveSecrets({ workflowId, keys }, { identity: stranger }),
    ]) {
      expect(await untouched).toEqual({ values: { A: "value" }, bound: {} });
    }
  });

  it("no secret is stored for it any more", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    await harness.bus.publish([archivedEvent(identity, workflowId)]);
    const request = { workflowId, key: "A", value: "value" };
    const created = await errorOf(harness.client.createSecret(request, { identity }));
    expect(created).toMatchObject({ reason: "BAD_REQUEST" });
    expect(created.message).toContain("archived");
    const replaced = await errorOf(harness.client.replaceSecret(request, { identity }));
    expect(replaced.reason).toBe("NOT_FOUND");
  });

  it("none is left by those that were created at the same moment", async () => {
    const identity = newIdentity();
    for (let round = 0; round < 15; round += 1) {
      const workflowId = newUuid();
      const creations = Array.from({ length: 6 }, (_, index) =>
        harness.client.createSecret(
          { workflowId, key: `KEY_${index}`, value: "value" },
          { identity },
        ),
      );
      const [outcomes] = await Promise.all([
        Promise.allSettled(creations),
        harness.bus.publish([archivedEvent(identity, workflowId)]),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") continue;
        expect(isAppError(outcome.reason) && outcome.reason.reason).toBe("BAD_REQUEST");
      }
      expect(await harness.client.listSecrets({ workflowId }, { identity })).toEqual({
        secrets: [],
      });
    }
  });
});
