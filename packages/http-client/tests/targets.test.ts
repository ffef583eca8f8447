import { afterAll, describe, expect, it } from "@jest/globals";

import { createSafeHttpClient } from "@workflow/http-client";

import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer } from "./support/servers.ts";

/** A client as in production, whose every name resolves to loopback. */
const client = createSafeHttpClient({
  allowPrivate: false,
  resolve: () => Promise.resolve(["127.0.0.1"]),
});
afterAll(() => client.close());

describe("a URL that is not a plain https URL is refused before anything is sent", () => {
  it.each([
    ["nonsense"],
    [""],
    ["/relative"],
    ["//example.com/x"],
    ["https://"],
    ["https://exa mple.com/"],
    ["https://example.com:65536/"],
    ["https://999.1.1.1/"],
    ["http://example.com/"],
    ["ftp://example.com/"],
    ["file:///etc/passwd"],
    ["gopher://example.com/"],
    ["data:text/plain,x"],
    ["javascript:alert(1)"],
    ["ws://example.com/"],
    ["unix:/run/docker.sock"],
    ["https://user@example.com/"],
    ["https://user:password@example.com/"],
    ["https://:password@example.com/"],
    ["https://example.com@127.0.0.1/"],
  ])("%s", async (url) => {
    const error = await failureOf(client.request(get(url)));
    expect(error).toMatchObject({ code: "INVALID_URL", sent: false });
  });
});

describe("a host that is a non-public address is refused in every spelling", () => {
  it.each([
    ["https://127.0.0.1/"],
    ["https://127.0.0.1./"],
    ["https://127.1/"],
    ["https://0x7f.0.0.1/"],
    ["https://0x7f000001/"],
    ["https://2130706433/"],
    ["https://017700000001/"],
    ["https://0177.0.0.01/"],
    ["https://%31%32%37.0.0.1/"],
    ["https://127。0。0。1/"],
    ["https://１２７.0.0.1/"],
    ["https://①②⑦.0.0.1/"],
    ["https://0/"],
    ["https://10.0.0.1:8443/path?query"],
    ["https://169.254.169.254/latest/meta-data/"],
    ["https://[::1]/"],
    ["https://[::]/"],
    ["https://[0:0:0:0:0:0:0:1]/"],
    ["https://[::ffff:127.0.0.1]/"],
    ["https://[::ffff:a9fe:a9fe]/"],
    ["https://[::127.0.0.1]/"],
    ["https://[64:ff9b::127.0.0.1]/"],
    ["https://[2002:7f00:1::]/"],
    ["https://[fd00:ec2::254]/"],
    ["https://[fe80::1]/"],
  ])("%s", async (url) => {
    const error = await failureOf(client.request(get(url)));
    expect(error).toMatchObject({ code: "ADDRESS_NOT_ALLOWED", sent: false });
  });
});

describe("a name that resolves to a non-public address is refused like one that does not exist", () => {
  it.each([
    ["https://localhost/"],
    ["https://localhost./"],
    ["https://LOCALHOST/"],
    ["https://printer.local/"],
    ["https://metadata.google.internal/"],
    ["https://example.com/"],
    ["https://example.com./"],
    ["https://127.0.0.1.nip.io/"],
  ])("%s", async (url) => {
    const error = await failureOf(client.request(get(url)));
    expect(error).toMatchObject({ code: "DNS_FAILED", sent: false });
  });

  it.each(["localhost", "localhost.", "any.localhost"])(
    "and so is %s of the machine",
    async (host) => {
      await using systemClient = createSafeHttpClient({ allowPrivate: false });
      const error = await failureOf(systemClient.request(get(`https://${host}/`)));
      expect(error.code).toBe("DNS_FAILED");
    },
  );
});

describe("allowPrivate", () => {
  it("lets http and loopback through, by address and by name", async () => {
    await using server = await startServer((_request, response) => response.end("hello"));
    await using local = createLocalClient();
    for (const host of ["127.0.0.1", "localhost"]) {
      const response = await local.request(get(`http://${host}:${server.port}/a?b=c#d`));
      expect(response.status).toBe(200);
      expect(response.body.toString()).toBe("hello");
      expect(response.url).toBe(`http://${host}:${server.port}/a?b=c`);
    }
  });

  it("still refuses other schemes and user names", async () => {
    await using local = createLocalClient();
    for (const url of ["ftp://127.0.0.1/", "http://user@127.0.0.1/"]) {
      expect((await failureOf(local.request(get(url)))).code).toBe("INVALID_URL");
    }
  });
});

describe("error messages", () => {
  it("hold neither path nor query nor credentials of the URL", async () => {
    const urls = [
      "https://user:s3cret@example.com/s3cret?token=s3cret",
      "http://example.com/s3cret?token=s3cret",
      "https://127.0.0.1/s3cret?token=s3cret",
      "https://example.com/s3cret?token=s3cret",
      "s3cret://s3cret",
    ];
    for (const url of urls) {
      const error = await failureOf(client.request(get(url)));
      expect(error.message).not.toContain("s3cret");
    }
  });

  it("hold no address that a name resolved to", async () => {
    const error = await failureOf(client.request(get("https://example.com/")));
    expect(error.message).toContain("example.com");
    expect(error.message).not.toContain("127.0.0.1");
  });
});
