import { createServer } from "node:http";
import { ConfigError, runMain } from "../../src/index.ts";

/** A service for the tests of runMain: `node service.ts <behaviour>`. */
const behaviour = process.argv[2];

await runMain(
  "example",
  async (signal) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    if (behaviour === "fails") throw new Error("no database");
    if (behaviour === "misconfigured") {
      throw new ConfigError([{ setting: "PORT", message: "is required but not set" }]);
    }
    if (behaviour === "never-starts") {
      process.stdout.write('{"msg":"starting"}\n');
      await new Promise(() => {});
    }
    if (behaviour === "starts-slowly") {
      process.stdout.write('{"msg":"starting"}\n');
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      server.close();
      signal.throwIfAborted();
    }
    return {
      async stop() {
        if (behaviour?.startsWith("hangs")) await new Promise(() => {});
        if (behaviour === "stops-badly") throw new Error("stuck");
        // A service that forgets something leaves its server open.
        if (behaviour !== "forgets") server.close();
      },
    };
  },
  { stopTimeoutMs: behaviour === "hangs-for-long" ? 60_000 : 300 },
);
