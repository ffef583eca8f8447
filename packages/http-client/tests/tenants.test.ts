import { describe, expect, it } from "@jest/globals";

import { waitFor } from "@workflow/testkit";

import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer } from "./support/servers.ts";

/** Answers `/fast` at once and everything else when released. */
async function startSlowServer() {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  let waiting = 0;
  let most = 0;
  const server = await startServer((request, response) => {
    if (request.url === "/fast") {
      response.end();
      return;
    }
    waiting += 1;
    most = Math.max(most, waiting);
    void released.then(() => {
      waiting -= 1;
      response.end();
    });
  });
  return { server, release, waiting: () => waiting, most: () => most };
}

describe("slow calls of one tenant", () => {
  it("leave another's to the same origin alone, and are so many at a time", async () => {
    const { server, release, waiting, most } = await startSlowServer();
    await using _ = server;
    await using client = createLocalClient({ maxRequestsPerTenant: 20 });
    const slow = Array.from({ length: 1_000 }, () =>
      client.forTenant("a").request(get(`${server.origin}/slow`, { timeoutMs: 60_000 })),
    );
    await waitFor(() => waiting() === 20);
    const fast = Array.from({ length: 50 }, () =>
      client.forTenant("b").request(get(`${server.origin}/fast`)),
    );
    await Promise.all(fast);
    expect(waiting()).toBe(20);
    release(undefined);
    await Promise.all(slow);
    expect(most()).toBe(20);
  });

  it("that wait for their turn end in time, with nothing sent", async () => {
    const { server, release } = await startSlowServer();
    await using _ = server;
    await using client = createLocalClient({ maxRequestsPerTenant: 1 });
    const tenant = client.forTenant("a");
    const first = tenant.request(get(`${server.origin}/slow`));
    const late = failureOf(tenant.request(get(`${server.origin}/fast`, { timeoutMs: 100 })));
    expect(await late).toMatchObject({ code: "TIMEOUT", sent: false });
    release(undefined);
    await first;
    await tenant.request(get(`${server.origin}/fast`));
  });

  it("are waited for by close, those that have not begun included", async () => {
    const { server, release, waiting } = await startSlowServer();
    await using _ = server;
    const client = createLocalClient({ maxRequestsPerTenant: 1 });
    const calls = [1, 2, 3].map(() => client.forTenant("a").request(get(`${server.origin}/slow`)));
    await waitFor(() => waiting() === 1);
    const closed = client.close();
    const late = await failureOf(client.forTenant("a").request(get(`${server.origin}/fast`)));
    expect(late).toMatchObject({ code: "ABORTED", sent: false });
    release(undefined);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await closed;
  });
});

describe("connections", () => {
  it("carry the requests of one tenant only", async () => {
    await using server = await startServer((request, response) =>
      response.end(String(request.socket.remotePort)),
    );
    await using client = createLocalClient();
    const ports = async (tenant: string): Promise<Set<string>> => {
      const seen = new Set<string>();
      for (let i = 0; i < 10; i += 1) {
        const response = await client.forTenant(tenant).request(get(`${server.origin}/`));
        seen.add(response.body.toString());
      }
      return seen;
    };
    const [a, b] = [await ports("a"), await ports("b")];
    expect([...a].filter((port) => b.has(port))).toEqual([]);
    expect(a.size).toBeLessThanOrEqual(2);
  });
});
