import { describe } from "@jest/globals";
import type { RuntimePlatform } from "../../src/task-runtime/port.ts";
import { useRuntime } from "../support/runtime-bench.ts";
import type { RuntimeFixture } from "../support/task-workers.ts";
import { describeTaskHandOver } from "./hand-over.ts";
import { describeTaskLeases } from "./leases.ts";
import { describeTaskQueue } from "./queue.ts";

/** What every adapter of the port `TaskRuntime` promises. */
export function describeTaskRuntime<P extends RuntimePlatform>(
  name: string,
  create: () => Promise<RuntimeFixture<P>>,
): void {
  describe(name, () => {
    const bench = useRuntime(create);
    describeTaskQueue(bench);
    describeTaskLeases(bench);
    describeTaskHandOver(bench);
  });
}
