import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { canvasBlock, canvasState } from "../support/canvas.ts";
import {
  createActive,
  createInStatus,
  createWorkflow,
  postRun,
  transform,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const save = (id: string, body: unknown) =>
  system.call("PATCH", `/workflows/${id}/canvas`, { body });

const read = async (id: string) => (await system.call("GET", `/workflows/${id}`)).data;

describe("saves at the same time", () => {
  it.each(["draft", "active"] as const)(
    "with steps never lose one another's: all that were accepted followed each other (%s)",
    async (status) => {
      const id = await createInStatus(system, status);
      const bodies = Array.from({ length: 20 }, (_, n) => ({
        canvasState: canvasState([canvasBlock(`saver-${n}`)]),
        steps: [transform("out", n)],
      }));
      const answers = await Promise.all(bodies.map((body) => save(id, body)));
      const accepted = bodies.filter((_body, n) => answers[n]?.status === 200);
      const refused = answers.filter((answer) => answer.status !== 200);
      expect(accepted.length).toBeGreaterThan(0);
      for (const answer of refused) {
        expect(answer).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
      }
      // Steps and canvas are of one save, never of two.
      const now = z
        .looseObject({ version: z.int(), canvasState: z.unknown() })
        .parse(await read(id));
      const winner = accepted.find(
        (body) => JSON.stringify(body.steps) === JSON.stringify(now["steps"]),
      );
      expect(now.canvasState).toEqual(winner?.canvasState);
      // Each accepted one is a version of its own, none is there twice.
      if (status === "draft") return;
      expect(now.version).toBe(accepted.length + 1);
      const { data } = await system.call("GET", `/workflows/${id}/versions`);
      const { versions } = z
        .object({ versions: z.array(z.object({ version: z.int(), steps: z.unknown() })) })
        .parse(data);
      const stored = versions.filter(({ version }) => version > 1).map(({ steps }) => steps);
      const texts = (values: unknown[]) => values.map((each) => JSON.stringify(each)).toSorted();
      expect(texts(stored)).toEqual(texts(accepted.map(({ steps }) => steps)));
      const run = await postRun(system, id, { mode: "sync" });
      expect(run).toMatchObject({ data: { output: versions[0] && outputOf(versions[0].steps) } });
    },
  );

  it("without steps are all accepted, and leave the steps of others alone", async () => {
    const id = await createActive(system);
    const steps = [transform("out", "by PUT")];
    const answers = await Promise.all([
      ...Array.from({ length: 19 }, (_, n) =>
        save(id, { canvasState: canvasState([canvasBlock(`saver-${n}`)]) }),
      ),
      system.call("PUT", `/workflows/${id}`, { body: { steps } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await read(id)).toMatchObject({ version: 2, steps });
  });

  it("with steps meet an activation or follow it, and what runs is what is stored", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await createWorkflow(system, { steps: [transform("out", "old")] });
      const body = { canvasState: canvasState(), steps: [transform("out", "new")] };
      const [saving, activation] = await Promise.all([
        save(id, body),
        system.call("POST", `/workflows/${id}/activate`),
      ]);
      expect(activation.status).toBe(200);
      expect([200, 409]).toContain(saving.status);
      const expected = saving.status === 200 ? "new" : "old";
      const run = await postRun(system, id, { mode: "sync" });
      expect(run).toMatchObject({ status: 200, data: { output: expected } });
    }
  });
});

function outputOf(steps: unknown): unknown {
  return z.array(z.object({ config: z.object({ mapping: z.unknown() }) })).parse(steps)[0]?.config
    .mapping;
}
