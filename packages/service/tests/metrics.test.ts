import { expect, it } from "@jest/globals";
import { freePort } from "@workflow/testkit";
import { createMetricsRegistry, rpcRequestMetrics, startMetricsServer } from "../src/index.ts";

const host = "127.0.0.1";

it("metrics of the process and of requests are served at /metrics only", async () => {
  const port = await freePort();
  const registry = createMetricsRegistry();
  const server = await startMetricsServer({ host, port }, registry);
  // Two services in one process measure into the same registry.
  rpcRequestMetrics(registry)({ rpc: "a.B/C", code: "OK", durationMs: 7 });
  rpcRequestMetrics(registry)({ rpc: "a.B/C", code: "OK", durationMs: 7 });

  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await metrics.text();
  const other = await fetch(`http://127.0.0.1:${port}/`);
  await other.text();
  await server?.close();

  expect(metrics.headers.get("content-type")).toContain("text/plain");
  expect(text).toContain("process_cpu_seconds_total");
  expect(text).toContain('rpc_request_duration_seconds_count{rpc="a.B/C",code="OK"} 2');
  expect(other.status).toBe(404);
});

it("metrics are served on the address that is named, and on no other", async () => {
  const registry = createMetricsRegistry();
  for (const [host, isEverywhere] of [
    ["127.0.0.1", false],
    ["0.0.0.0", true],
  ] as const) {
    const port = await freePort();
    const server = await startMetricsServer({ host, port }, registry);
    const statusAt = (address: string): Promise<number | null> =>
      fetch(`http://${address}:${port}/metrics`).then(
        async (response) => (await response.text(), response.status),
        () => null,
      );
    expect(await statusAt("127.0.0.1")).toBe(200);
    expect(await statusAt("127.0.0.2")).toBe(isEverywhere ? 200 : null);
    await server?.close();
  }
});

it("a port in use is an error, and port 0 means no server", async () => {
  const port = await freePort();
  const registry = createMetricsRegistry();
  const first = await startMetricsServer({ host, port }, registry);

  await expect(startMetricsServer({ host, port }, registry)).rejects.toThrow(/EADDRINUSE/);
  expect(await startMetricsServer({ host, port: 0 }, registry)).toBeUndefined();
  await first?.close();
});
