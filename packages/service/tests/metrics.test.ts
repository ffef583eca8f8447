import { expect, it } from "@jest/globals";
import { freePort } from "@workflow/testkit";
import { createMetricsRegistry, rpcRequestMetrics, startMetricsServer } from "../src/index.ts";

it("metrics of the process and of requests are served at /metrics only", async () => {
  const port = await freePort();
  const registry = createMetricsRegistry();
  const server = await startMetricsServer(port, registry, "127.0.0.1");
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

it("a port in use is an error, and port 0 means no server", async () => {
  const port = await freePort();
  const registry = createMetricsRegistry();
  const first = await startMetricsServer(port, registry, "127.0.0.1");

  await expect(startMetricsServer(port, registry, "127.0.0.1")).rejects.toThrow(/EADDRINUSE/);
  expect(await startMetricsServer(0, registry)).toBeUndefined();
  await first?.close();
});
