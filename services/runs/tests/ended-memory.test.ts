import { expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { WorkerMemory } from "../src/memory/worker-memory.ts";

const signal = new AbortController().signal;

it("a run that ends while a call of it still waits for memory leaves none of it taken", async () => {
  const memory = new WorkerMemory({ bytesMax: 3_000 });
  const full = memory.open(newUuid(), signal);
  full.grow(1_000);
  full.stepBegins();
  const ending = memory.open(newUuid(), signal);
  const waiting = ending.reserve(500);
  expect(memory.waiting).toBe(1);
  ending.close();
  full.close();
  await waiting;
  expect({ bytes: memory.bytes, waiting: memory.waiting }).toEqual({ bytes: 0, waiting: 0 });
});
