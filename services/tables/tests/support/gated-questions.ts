import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";
import { Registry } from "prom-client";
import type { TablesServiceOptions } from "../../src/service.ts";
import { figuresOf } from "./figures-of.ts";
import { startHarness } from "./harness.ts";
import type { Clients, Harness } from "./harness.ts";
import { createReadGate } from "./read-gate.ts";
import type { ReadGate } from "./read-gate.ts";

const IN_USE = 'tables_cache_bytes_in_use{thread="0"}';

/**
 * A service of one thread for each case, so that its memory is empty and its metrics begin at 0. A gate, which is open
 * after each case, holds reads of rows.
 */
export function useGatedQuestions(options: Partial<TablesServiceOptions>) {
  let harness: Harness;
  let gate: ReadGate;
  let registry: Registry;
  let clients: Clients;
  beforeAll(async () => {
    harness = await startHarness();
    gate = await createReadGate(harness);
  });
  beforeEach(async () => {
    registry = new Registry();
    const started = await harness.start({ metricsRegistry: registry, threads: 1, ...options });
    clients = harness.connect(started);
  });
  afterEach(() => gate.open());
  afterAll(async () => {
    await gate.end();
    await harness.close();
  });
  return {
    get harness() {
      return harness;
    },
    get gate() {
      return gate;
    },
    get registry() {
      return registry;
    },
    /** Clients of the case's service. */
    get clients() {
      return clients;
    },
    /** The figure of a metric with its labels; 0 before it was counted. */
    figure: async (name: string): Promise<number> => (await figuresOf(registry, name))[name] ?? 0,
    /** Bytes of the cache that questions use now. */
    bytesInUse: async (): Promise<number> => (await figuresOf(registry, IN_USE))[IN_USE] ?? 0,
  };
}
