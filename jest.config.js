import { availableParallelism } from "node:os";

/** Suites of many processes that take minutes each: `npm run operations` plays them, nothing else does. */
const OPERATIONS = [
  "<rootDir>/tests/faults/postgres-failover.test.ts",
  "<rootDir>/tests/faults/restore.test.ts",
  "<rootDir>/tests/upgrades/baseline-beside.test.ts",
  "<rootDir>/tests/upgrades/rolling-restart.test.ts",
];

/** Every test file is ESM TypeScript, transformed by swc; a database of its own per file. */
export default {
  testEnvironment: "<rootDir>/packages/testkit/src/jest-environment.ts",
  runtime: "<rootDir>/packages/testkit/src/jest-runtime.ts",
  testMatch: ["<rootDir>/{packages,services,deploy,tests,proto,examples,bench}/**/*.test.ts"],
  testPathIgnorePatterns: [
    "/node_modules/",
    ...(process.env["PLAY_OPERATIONS"] === undefined ? OPERATIONS : []),
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "es6" } },
    ],
  },
  // What `client:build` and `cli:build` make are packages of the same names.
  modulePathIgnorePatterns: ["<rootDir>/packages/(client|cli)/dist/"],
  globalSetup: "<rootDir>/packages/testkit/src/jest-global-setup.ts",
  globalTeardown: "<rootDir>/packages/testkit/src/jest-global-teardown.ts",
  setupFilesAfterEnv: [
    "<rootDir>/packages/testkit/src/jest-setup-after-env.ts",
    "<rootDir>/tests/support/check-answers.ts",
  ],
  // Tests that hang are what this is for; a machine with other work to do is slow.
  testTimeout: 180000,
  // Test files wait a third of their time, for processes to start and for what has to happen later: one more
  // than there are cores keeps those busy. More than four do not get on with one Postgres.
  maxWorkers: Math.min(4, availableParallelism() + 1),
  testSequencer: "<rootDir>/tests/support/slow-files-first.ts",
  // Modules of finished files stay in a worker's memory, and what is left is for the next test.
  workerIdleMemoryLimit: "1GB",
  // Jest's own half a second is too short for a busy machine, which frees all modules of a worker at its end: Jest
  // then reports a leak. A real leak keeps the worker for all of this time, and `left-behind.ts` names it.
  workerGracefulExitTimeout: 20000,
  randomize: true,
};
