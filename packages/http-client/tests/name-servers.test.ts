import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "@jest/globals";

import { Turns } from "@workflow/async";
import { createSafeHttpClient } from "@workflow/http-client";
import { startDnsDouble, waitFor } from "@workflow/testkit";
import type { DnsAnswer, DnsDouble } from "@workflow/testkit";

import { createGuardedLookup } from "../src/guarded-connector.ts";
import { createHostsFile } from "../src/hosts-file.ts";
import { createLookup } from "../src/lookups.ts";
import { createNameServers } from "../src/name-servers.ts";
import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer } from "./support/servers.ts";

/** The lookup's result for a name, where only public addresses are allowed. */
function addressesToDial(dns: DnsDouble) {
  const turns = new Turns({ perTenant: 10 });
  const resolve = createNameServers({ servers: [dns.address] });
  const closed = new AbortController().signal;
  const lookup = createLookup("", { resolve, turns, timeoutMs: 5_000, closed });
  const guarded = createGuardedLookup(lookup, { allowPrivate: false });
  return (host: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      guarded(host, { all: true }, (error, addresses) => {
        if (error === null) resolve(addresses);
        else reject(error);
      });
    });
}

describe("the name servers", () => {
  it("are asked for the very name that was given, without search domains, for both families", async () => {
    await using server = await startServer((_request, response) => response.end("reached"));
    await using dns = await startDnsDouble(() => ["127.0.0.1"]);
    await using client = createLocalClient({ dnsServers: [dns.address] });
    for (const host of ["api", "Hooks.Test", "hooks.test."]) {
      const response = await client.request(get(`http://${host}:${server.port}/`));
      expect(response.body.toString()).toBe("reached");
    }
    const asked = dns.questions.map(({ name, type }) => `${name} ${type}`);
    expect(new Set(asked)).toEqual(
      new Set(["api A", "api AAAA", "hooks.test A", "hooks.test AAAA"]),
    );
  });

  it("are asked again for each connection: no answer outlives its time", async () => {
    await using server = await startServer((_request, response) => {
      response.setHeader("connection", "close").end();
    });
    await using dns = await startDnsDouble(({ times }) => (times < 2 ? ["127.0.0.1"] : "NXDOMAIN"));
    await using client = createLocalClient({ dnsServers: [dns.address] });
    const url = `http://hooks.test:${server.port}/`;
    await client.request(get(url));
    await client.request(get(url));
    expect(await failureOf(client.request(get(url)))).toMatchObject({
      code: "DNS_FAILED",
      sent: false,
    });
  });

  it("are asked once for a name that many requests wait for", async () => {
    await using server = await startServer((_request, response) => response.end());
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    await using dns = await startDnsDouble(async () => {
      await released;
      return ["127.0.0.1"];
    });
    await using client = createLocalClient({ dnsServers: [dns.address] });
    const url = `http://hooks.test:${server.port}/`;
    const requests = Array.from({ length: 50 }, () => client.request(get(url)));
    await waitFor(() => dns.questions.length >= 2);
    release(undefined);
    await Promise.all(requests);
    expect(dns.questions).toHaveLength(2);
  });

  it("may answer for one family only, or late for the other", async () => {
    await using server = await startServer((_request, response) => response.end("reached"));
    await using dns = await startDnsDouble(({ type }) => (type === "A" ? ["127.0.0.1"] : null));
    await using client = createLocalClient({ dnsServers: [dns.address] });
    const response = await client.request(get(`http://hooks.test:${server.port}/`));
    expect(response.body.toString()).toBe("reached");
  });

  it("that fail for one family do not take away the other's answer", async () => {
    await using dns = await startDnsDouble(({ type }) => (type === "A" ? "SERVFAIL" : ["2a00::1"]));
    expect(await addressesToDial(dns)("hooks.test")).toEqual([{ address: "2a00::1", family: 6 }]);
  });

  it("that are silent: the next one is asked", async () => {
    await using server = await startServer((_request, response) => response.end("reached"));
    await using silent = await startDnsDouble(() => null);
    await using dns = await startDnsDouble(() => ["127.0.0.1"]);
    await using client = createLocalClient({ dnsServers: [silent.address, dns.address] });
    const response = await client.request(get(`http://hooks.test:${server.port}/`));
    expect(response.body.toString()).toBe("reached");
    expect(silent.questions).not.toHaveLength(0);
  });
});

describe("the answers", () => {
  it("of both families are dialled, exactly as they were judged", async () => {
    await using dns = await startDnsDouble(() => ["2606:4700:4700::1111", "1.1.1.1", "8.8.8.8"]);
    expect(await addressesToDial(dns)("hooks.test")).toEqual([
      { address: "1.1.1.1", family: 4 },
      { address: "8.8.8.8", family: 4 },
      { address: "2606:4700:4700::1111", family: 6 },
    ]);
  });

  it("that change after they were judged change nothing (rebinding)", async () => {
    await using dns = await startDnsDouble(({ times, type }) =>
      type === "AAAA" ? [] : times === 0 ? ["1.1.1.1"] : ["127.0.0.1"],
    );
    const dial = addressesToDial(dns);
    expect(await dial("hooks.test")).toEqual([{ address: "1.1.1.1", family: 4 }]);
    expect((await failureOf(dial("hooks.test"))).code).toBe("DNS_FAILED");
  });

  it.each<[string, DnsAnswer]>([
    ["does not exist", "NXDOMAIN"],
    ["has no addresses", []],
    ["cannot be resolved", "SERVFAIL"],
    ["may not be asked for", "REFUSED"],
    ["is loopback", ["127.0.0.1"]],
    ["is private", ["10.0.0.7"]],
    ["is private in IPv6", ["fd00::7"]],
    ["is private among public ones", ["1.1.1.1", "10.0.0.7"]],
    ["is private in IPv6 beside a public one", ["1.1.1.1", "fe80::7"]],
    ["is a mapped address", ["::ffff:10.0.0.7"].map(() => "::ffff:a00:7")],
  ])("tell a tenant the same of a name that %s", async (_what, answer) => {
    await using dns = await startDnsDouble(() => answer);
    await using client = createSafeHttpClient({ allowPrivate: false, dnsServers: [dns.address] });
    const error = await failureOf(client.request(get("https://inside.test/")));
    expect(error).toMatchObject({ code: "DNS_FAILED", sent: false });
    expect(error.message).toBe(
      "The host name inside.test could not be resolved to addresses of the public internet.",
    );
  });

  it("tell it no sooner of a private name near by than of one that does not exist far away", async () => {
    const { promise: answered, resolve: tell } = Promise.withResolvers<undefined>();
    let toldFarAway = false;
    await using dns = await startDnsDouble(async ({ name }) => {
      if (name === "inside.test") return ["10.0.0.7"];
      await answered;
      toldFarAway = true;
      return "NXDOMAIN";
    });
    await using client = createSafeHttpClient({ allowPrivate: false, dnsServers: [dns.address] });
    const farAway = failureOf(client.request(get("https://nothing.test/")));
    const inside = failureOf(client.request(get("https://inside.test/")));
    await waitFor(() => dns.questions.length === 4);
    tell(undefined);
    await inside;
    expect(toldFarAway).toBe(true);
    await farAway;
  });
});

describe("name servers that never answer", () => {
  it("end the request with DNS_FAILED", async () => {
    await using dns = await startDnsDouble(() => null);
    await using client = createLocalClient({ dnsServers: [dns.address], dnsTimeoutMs: 300 });
    const error = await failureOf(client.request(get("http://dead.test/")));
    expect(error).toMatchObject({ code: "DNS_FAILED", sent: false });
  });

  it("stop neither another tenant's calls nor files, however many names one tenant asks for", async () => {
    await using server = await startServer((_request, response) => response.end("reached"));
    await using dns = await startDnsDouble(({ name }) =>
      name.endsWith(".dead.test") ? null : ["127.0.0.1"],
    );
    await using client = createLocalClient({
      dnsServers: [dns.address],
      dnsTimeoutMs: 60_000,
      connectTimeoutMs: 60_000,
    });
    const giveUp = new AbortController();
    let ended = 0;
    const stuck = Array.from({ length: 1_000 }, (_, i) =>
      failureOf(client.forTenant("a").request(get(`http://n${i}.dead.test/`), giveUp.signal)).then(
        () => (ended += 1),
      ),
    );
    await waitFor(() => new Set(dns.questions.map(({ name }) => name)).size === 16);
    for (let i = 0; i < 20; i += 1) {
      const url = `http://n${i}.alive.test:${server.port}/`;
      const response = await client.forTenant("b").request(get(url));
      expect(response.body.toString()).toBe("reached");
      await readFile(new URL(import.meta.url));
    }
    expect(ended).toBe(0);
    const dead = dns.questions.filter(({ name }) => name.endsWith(".dead.test"));
    expect(new Set(dead.map(({ name }) => name)).size).toBe(16);
    giveUp.abort();
    await Promise.all(stuck);
  });
});

describe("the machine's own names", () => {
  it.each(["localhost", "localhost.", "LOCALHOST"])(
    "need no name server, where the policy allows them: %s",
    async (host) => {
      await using server = await startServer((_request, response) => response.end("reached"));
      await using dns = await startDnsDouble(() => "NXDOMAIN");
      await using client = createLocalClient({ dnsServers: [dns.address] });
      const response = await client.request(get(`http://${host}:${server.port}/`));
      expect(response.body.toString()).toBe("reached");
      expect(dns.questions).toHaveLength(0);
    },
  );

  it("are those of the hosts file, and whatever is below localhost", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hosts-"));
    try {
      const path = join(folder, "hosts");
      await writeFile(path, "# comment\n10.1.2.3\tDb.Example db # main\n::5 db\nwrong line\n\n");
      const find = createHostsFile(path);
      expect(await find("db.example")).toEqual(["10.1.2.3"]);
      expect(await find("db")).toEqual(["10.1.2.3", "::5"]);
      expect(await find("localhost")).toEqual(["127.0.0.1", "::1"]);
      expect(await find("app.localhost")).toEqual(["127.0.0.1", "::1"]);
      expect(await find("line")).toEqual([]);
      expect(await createHostsFile(join(folder, "none"))("db")).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
