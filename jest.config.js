/** Every test file is ESM TypeScript, transformed by swc; a database of its own per file. */
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/{packages,services,deploy,tests,proto,examples}/**/*.test.ts"],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "es6" } },
    ],
  },
  globalSetup: "<rootDir>/packages/testkit/src/jest-global-setup.ts",
  globalTeardown: "<rootDir>/packages/testkit/src/jest-global-teardown.ts",
  setupFilesAfterEnv: ["<rootDir>/packages/testkit/src/jest-setup-after-env.ts"],
  testTimeout: 30000,
  maxWorkers: 2,
  randomize: true,
};
