import { createMemoryFixture } from "./support/memory-runtime.ts";
import { describeTaskRuntime } from "./task-runtime-contract/index.ts";

describeTaskRuntime("a task runtime apart from the database", () =>
  Promise.resolve(createMemoryFixture()),
);
