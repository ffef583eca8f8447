import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startDnsDouble, startHttpDouble, waitFor } from "@workflow/testkit";
import type { DnsDouble, HttpDouble } from "@workflow/testkit";
import {
  forEach,
  httpStep,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const RETRY = { maxAttempts: 3, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };

let receiver: HttpDouble;

beforeAll(async () => {
  receiver = await startHttpDouble();
});
afterAll(async () => {
  await receiver.close();
});

describe("where private addresses are not allowed, a step", () => {
  let dns: DnsDouble;
  let strict: RunsHarness;

  beforeAll(async () => {
    dns = await startDnsDouble(({ name }) => (name === "inside.test" ? ["10.1.2.3"] : "NXDOMAIN"));
    strict = await startRunsHarness({
      outboundAllowPrivate: false,
      outboundDnsServers: [dns.address],
      outboundNat64Prefixes: ["2a01:db8::/96"],
    });
  });
  afterAll(async () => {
    await strict.close();
    await dns.close();
  });

  const runCall = async (url: string, more: object = {}) =>
    strict.runToEnd(await strict.deploy([httpStep("call", url, {}, more)]));

  it.each([
    ["http", () => receiver.url, "INVALID_URL"],
    ["a loopback address", () => `https://127.0.0.1:${receiver.port}/`, "ADDRESS_NOT_ALLOWED"],
    ["a mapped one", () => `https://[::ffff:127.0.0.1]:${receiver.port}/`, "ADDRESS_NOT_ALLOWED"],
    ["the metadata service", () => "https://169.254.169.254/latest/", "ADDRESS_NOT_ALLOWED"],
    ["one behind NAT64", () => "https://[64:ff9b::10.0.0.1]/", "ADDRESS_NOT_ALLOWED"],
    [
      "one behind the network's NAT64",
      () => "https://[2a01:db8::10.0.0.1]/",
      "ADDRESS_NOT_ALLOWED",
    ],
    ["localhost", () => `https://localhost:${receiver.port}/`, "DNS_FAILED"],
  ])("reaches nothing by %s", async (_what, url, code) => {
    const before = receiver.requests.length;
    const run = await runCall(url());
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code } });
    expect(receiver.requests).toHaveLength(before);
  });

  it("learns the same of a name with a private address as of one that does not exist", async () => {
    const [inside, nothing] = [
      await runCall("https://inside.test/", { retry: RETRY }),
      await runCall("https://nothing.test/", { retry: RETRY }),
    ];
    const told = (run: typeof inside, host: string) => ({
      code: run.error?.code,
      message: run.error?.message.replace(host, "HOST"),
      details: run.error?.detailsJson,
      attempts: run.stepResults[0]?.previousAttempts.length,
    });
    expect(told(inside, "inside.test")).toEqual(told(nothing, "nothing.test"));
    expect(told(inside, "inside.test")).toMatchObject({ code: "DNS_FAILED", attempts: 2 });
  });
});

describe("name servers that are silent about one company's hosts", () => {
  it("do not hold up another company's calls", async () => {
    const dns = await startDnsDouble(({ name }) =>
      name.endsWith(".dead.test") ? null : ["127.0.0.1"],
    );
    const harness = await startRunsHarness({ outboundDnsServers: [dns.address] });
    const call = httpStep("call", "http://n{{loop.index}}.dead.test/");
    const items = Array.from({ length: 60 }, (_, i) => i);
    const steps = [forEach("all", items, [call], { concurrency: 60 })];
    const stuck = await harness.start(await harness.deploy(steps));
    await waitFor(() => dns.questions.length >= 16);
    const identity = testIdentity(newUuid());
    const url = `http://alive.test:${receiver.port}/`;
    const other = await harness.deploy([httpStep("call", url)], { identity });
    const started = await harness.runs.startRun(startRequest(other), { identity });
    await waitFor(async () => {
      const run = await harness.runs.getRun({ runId: started.run?.id ?? "" }, { identity });
      return run.status === RunStatus.COMPLETED;
    });
    expect((await harness.get(stuck)).status).toBe(RunStatus.RUNNING);
    await harness.runs.cancelRun({ runId: stuck }, { identity: harness.identity });
    await harness.close();
    await dns.close();
  });
});

describe("a call", () => {
  let harness: RunsHarness;

  beforeAll(async () => {
    harness = await startRunsHarness();
  });
  afterAll(async () => {
    await harness.close();
  });

  it("over a kept connection that breaks is made once more with its key, as the same attempt", async () => {
    const used = new WeakSet();
    let broken = 0;
    const flaky = await startHttpDouble((_request, response) => {
      const { socket } = response;
      if (socket === null) return {};
      if (used.has(socket)) {
        broken += 1;
        socket.destroy();
        return undefined;
      }
      used.add(socket);
      return {};
    });
    const post = { method: "POST", body: { amount: 1 } };
    const steps = Array.from({ length: 20 }, (_, i) => httpStep(`s${i}`, flaky.url, post));
    const run = await harness.runToEnd(await harness.deploy(steps));
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(run.stepResults.map(({ attempt }) => attempt)).toEqual(steps.map(() => 1));
    expect(broken).toBeGreaterThan(0);
    const counts = [...flaky.keyCounts().values()];
    expect(counts).toHaveLength(20);
    expect(counts.filter((count) => count === 2)).toHaveLength(broken);
    expect(counts.filter((count) => count > 2)).toEqual([]);
    await flaky.close();
  });

  it("whose redirect leads to another origin takes no body there, and is not tried again", async () => {
    const other = await startHttpDouble();
    const server = await startHttpDouble(() => ({ status: 307, headers: { location: other.url } }));
    const config = { method: "POST", body: "s3cret", followRedirects: 3 };
    const step = httpStep("call", server.url, config, { retry: RETRY });
    const run = await harness.runToEnd(await harness.deploy([step]));
    expect(run.error).toMatchObject({ code: "REDIRECT_REFUSED" });
    expect(run.stepResults[0]?.previousAttempts).toEqual([]);
    expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
    await Promise.all([server.close(), other.close()]);
  });

  it("that is redirected to another origin leaves the step's headers and credentials behind", async () => {
    const other = await startHttpDouble();
    const server = await startHttpDouble(() => ({ status: 302, headers: { location: other.url } }));
    const config = {
      headers: { "X-Auth-Key": "s3cret", Accept: "text/csv" },
      auth: { type: "bearer", token: "s3cret" },
      followRedirects: 3,
    };
    const run = await harness.runToEnd(
      await harness.deploy([httpStep("call", server.url, { method: "GET", ...config })]),
    );
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(server.requests[0]?.headers).toMatchObject({ "x-auth-key": "s3cret" });
    expect(Object.keys(other.requests[0]?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    await Promise.all([server.close(), other.close()]);
  });
});
