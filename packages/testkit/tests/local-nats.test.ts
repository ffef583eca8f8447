import { describe, expect, it } from "@jest/globals";
import { startLocalNats } from "@workflow/testkit";
import { connect } from "nats";

describe("startLocalNats", () => {
  it("gives a server with JetStream", async () => {
    const server = await startLocalNats();
    const connection = await connect({ servers: server.url });
    const manager = await connection.jetstreamManager();
    expect((await manager.getAccountInfo()).streams).toBeGreaterThanOrEqual(0);
    await connection.close();
    await server.stop();
  });
});
