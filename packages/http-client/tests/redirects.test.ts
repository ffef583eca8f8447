import type { IncomingMessage, ServerResponse } from "node:http";

import { afterAll, describe, expect, it } from "@jest/globals";

import type { SafeRequest } from "@workflow/http-client";

import type { HopRequest } from "../src/exchange.ts";
import { findNextHop } from "../src/redirects.ts";
import { HOOKS_TEST_CERTIFICATE } from "./support/certificate.ts";
import { createLocalClient, failureOf, get } from "./support/requests.ts";
import { startServer, startTlsServer } from "./support/servers.ts";
import type { TestServer } from "./support/servers.ts";

const client = createLocalClient();
afterAll(() => client.close());

/** A server that redirects `/from` and answers other requests with their content. */
function startRedirecting(status: number, location: () => string): Promise<TestServer> {
  return startServer((request, response) => {
    if (request.url === "/from") response.writeHead(status, { location: location() }).end("moved");
    else echo(request, response);
  });
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
}

async function follow(url: string, rest: Partial<SafeRequest> = {}): Promise<unknown> {
  const response = await client.request(get(url, { followRedirects: 5, ...rest }));
  return JSON.parse(response.body.toString());
}

describe("redirects", () => {
  it("are returned as they are by default", async () => {
    await using server = await startRedirecting(302, () => "/to");
    const response = await client.request(get(`${server.origin}/from`));
    expect(response).toMatchObject({ status: 302, url: `${server.origin}/from` });
    expect(response.headers["location"]).toBe("/to");
    expect(response.body.toString()).toBe("moved");
  });

  it("are followed up to the limit, and the final URL is told", async () => {
    await using server = await startServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("here");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const response = await client.request(get(`${server.origin}/3`, { followRedirects: 3 }));
    expect(response).toMatchObject({ status: 200, url: `${server.origin}/0` });
    const error = await failureOf(
      client.request(get(`${server.origin}/4`, { followRedirects: 3 })),
    );
    expect(error).toMatchObject({ code: "TOO_MANY_REDIRECTS", sent: true });
  });

  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
  ])("%i turns %s into %s without body", async (status, method, expected) => {
    await using server = await startRedirecting(status, () => "/to");
    const headers = { "content-type": "text/plain", "x-kept": "yes" };
    const seen = await follow(`${server.origin}/from`, { method, headers, body: "hello" });
    expect(seen).toMatchObject({ method: expected, url: "/to", body: "" });
    expect(seen).toHaveProperty(["headers", "x-kept"], "yes");
    expect(seen).not.toHaveProperty(["headers", "content-type"]);
    expect(seen).not.toHaveProperty(["headers", "content-length"]);
  });

  it.each([
    [301, "PUT"],
    [302, "DELETE"],
    [307, "POST"],
    [308, "POST"],
    [308, "PATCH"],
  ])("%i repeats a %s with its body", async (status, method) => {
    await using server = await startRedirecting(status, () => "/to");
    const headers = { "content-type": "text/plain" };
    const seen = await follow(`${server.origin}/from`, { method, headers, body: "hello" });
    expect(seen).toMatchObject({ method, url: "/to", body: "hello", headers });
  });

  it("303 keeps a HEAD", async () => {
    await using server = await startRedirecting(303, () => "/to");
    const request = get(`${server.origin}/from`, { method: "HEAD", followRedirects: 1 });
    expect(await client.request(request)).toMatchObject({
      status: 200,
      url: `${server.origin}/to`,
    });
  });

  it("without a usable location are responses like any other", async () => {
    await using server = await startServer((_request, response) => response.writeHead(302).end());
    const response = await client.request(get(`${server.origin}/`, { followRedirects: 5 }));
    expect(response.status).toBe(302);
  });

  it("that other statuses only look like are not followed", async () => {
    await using server = await startRedirecting(300, () => "/to");
    const response = await client.request(get(`${server.origin}/from`, { followRedirects: 5 }));
    expect(response.status).toBe(300);
  });
});

describe("what the request carries", () => {
  const own = {
    Authorization: "Bearer s3cret",
    Cookie: "session=s3cret",
    "X-Auth-Key": "s3cret",
    "Ocp-Apim-Subscription-Key": "s3cret",
    "PRIVATE-TOKEN": "s3cret",
    "Idempotency-Key": "s3cret",
    "X-Anything": "s3cret",
    "Content-Language": "s3cret",
    Referer: "https://s3cret.example/",
  };
  const harmless = {
    Accept: "text/csv",
    "accept-language": "de",
    "User-Agent": "mine",
    traceparent: "00-1-1-01",
  };
  const headers = { ...own, ...harmless };

  it.each([301, 302, 303, 307, 308])("stays with a %i within the origin", async (status) => {
    await using server = await startRedirecting(status, () => "/to");
    const seen = await follow(`${server.origin}/from`, { headers });
    const kept = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    expect(seen).toMatchObject({ headers: Object.fromEntries(kept) });
  });

  it.each([301, 302, 303, 307, 308])(
    "is dropped by a %i to another origin, harmless headers apart",
    async (status) => {
      await using other = await startServer(echo);
      // Another port is another origin.
      await using server = await startRedirecting(status, () => `${other.origin}/to`);
      const seen = await follow(`${server.origin}/from`, { headers });
      expect(seen).toEqual({
        method: "GET",
        url: "/to",
        headers: {
          host: other.origin.slice("http://".length),
          connection: "keep-alive",
          accept: "text/csv",
          "accept-encoding": "gzip, deflate, br",
          "accept-language": "de",
          "user-agent": "mine",
          traceparent: "00-1-1-01",
        },
        body: "",
      });
    },
  );

  it("does not come back when the other origin redirects back", async () => {
    await using other = await startServer((_request, response) => {
      response.writeHead(307, { location: `${server.origin}/to` }).end();
    });
    await using server = await startRedirecting(307, () => `${other.origin}/back`);
    const seen = await follow(`${server.origin}/from`, { headers });
    expect(seen).toMatchObject({ url: "/to" });
    expect(JSON.stringify(seen)).not.toContain("s3cret");
  });
});

describe("a body", () => {
  it.each([
    [307, "POST"],
    [308, "POST"],
    [308, "DELETE"],
    [301, "PUT"],
    [302, "PATCH"],
  ])(
    "is not taken by a %i of a %s to another origin, which hears nothing",
    async (status, method) => {
      let heard = 0;
      await using other = await startServer((_request, response) => {
        heard += 1;
        response.end();
      });
      await using server = await startRedirecting(status, () => `${other.origin}/s3cret`);
      const request = get(`${server.origin}/from`, { method, body: "s3cret", followRedirects: 5 });
      const error = await failureOf(client.request(request));
      expect(error).toMatchObject({ code: "REDIRECT_REFUSED", sent: true });
      expect(error.message).toContain("redirected a request with a body");
      expect(error.message).not.toContain("s3cret");
      expect(heard).toBe(0);
      expect(other.connections()).toBe(0);
    },
  );

  it.each([
    [301, "POST"],
    [302, "POST"],
    [303, "PUT"],
  ])("is left behind when a %i turns a %s into GET at another origin", async (status, method) => {
    await using other = await startServer(echo);
    await using server = await startRedirecting(status, () => `${other.origin}/to`);
    const headers = { "content-type": "text/plain" };
    const seen = await follow(`${server.origin}/from`, { method, headers, body: "s3cret" });
    expect(seen).toMatchObject({ method: "GET", url: "/to", body: "" });
    expect(seen).not.toHaveProperty(["headers", "content-type"]);
  });

  it.each([
    [307, "DELETE"],
    [308, "HEAD"],
    [307, "OPTIONS"],
  ])("that was never there does not stop a %i of a %s", async (status, method) => {
    const methods: (string | undefined)[] = [];
    await using other = await startServer((request, response) => {
      methods.push(request.method);
      response.end();
    });
    await using server = await startRedirecting(status, () => `${other.origin}/to`);
    await client.request(get(`${server.origin}/from`, { method, followRedirects: 1 }));
    expect(methods).toEqual([method]);
  });
});

describe("a redirect from https to http", () => {
  it("is refused, also where http is allowed", async () => {
    let heard = 0;
    await using other = await startServer((_request, response) => {
      heard += 1;
      response.end();
    });
    await using server = await startTlsServer((_request, response) => {
      response.writeHead(302, { location: `${other.origin}/to` }).end();
    });
    await using trusting = createLocalClient({
      ca: HOOKS_TEST_CERTIFICATE,
      resolve: () => Promise.resolve(["127.0.0.1"]),
    });
    const request = get(`${server.origin}/from`, { followRedirects: 1 });
    const error = await failureOf(trusting.request(request));
    expect(error).toMatchObject({ code: "REDIRECT_REFUSED", sent: true });
    expect(error.message).toContain("from https to http");
    expect(heard).toBe(0);
  });
});

describe("onHop", () => {
  it("is asked with every hop's URL, in order, before it is dialled", async () => {
    await using other = await startServer(echo);
    await using server = await startRedirecting(302, () => `${other.origin}/to?a=b`);
    const asked: [string, number][] = [];
    const onHop = (url: URL): void => {
      asked.push([url.href, url.port === String(other.port) ? other.connections() : 0]);
      url.pathname = "/changed";
    };
    expect(await follow(`${server.origin}/from`, { onHop })).toMatchObject({ url: "/to?a=b" });
    expect(asked).toEqual([
      [`${server.origin}/from`, 0],
      [`${other.origin}/to?a=b`, 0],
    ]);
  });

  it.each([0, 1])(
    "refuses hop %i with an error of its own, and nothing is dialled",
    async (hop) => {
      await using other = await startServer(echo);
      await using server = await startRedirecting(302, () => `${other.origin}/to`);
      const mine = new Error("not there");
      let asked = 0;
      const onHop = (): void => {
        if (asked === hop) throw mine;
        asked += 1;
      };
      const request = client.request(get(`${server.origin}/from`, { followRedirects: 5, onHop }));
      await expect(request).rejects.toBe(mine);
      expect([server, other].map((each) => each.connections())).toEqual([hop, 0]);
    },
  );

  it("is not asked about what the policy refuses anyway", async () => {
    await using server = await startRedirecting(302, () => "ftp://example.com/");
    const asked: string[] = [];
    const onHop = (url: URL): void => void asked.push(url.pathname);
    await failureOf(client.request(get(`${server.origin}/from`, { followRedirects: 1, onHop })));
    expect(asked).toEqual(["/from"]);
  });
});

describe("every hop is judged like the first", () => {
  const hop: HopRequest = {
    method: "GET",
    url: new URL("https://example.com/from"),
    headers: [],
    body: undefined,
  };
  const nextOf = (location: string) =>
    findNextHop(
      hop,
      { status: 302, headers: { location }, body: Buffer.alloc(0) },
      {
        allowPrivate: false,
      },
    );

  it.each([
    ["https://169.254.169.254/latest/meta-data/", "ADDRESS_NOT_ALLOWED"],
    ["//127.0.0.1/", "ADDRESS_NOT_ALLOWED"],
    ["https://[::ffff:10.0.0.1]/", "ADDRESS_NOT_ALLOWED"],
    ["https://0x7f.1/", "ADDRESS_NOT_ALLOWED"],
    ["http://example.com/", "REDIRECT_REFUSED"],
    ["HTTP:/example.com/", "REDIRECT_REFUSED"],
    ["https://user:password@example.com/", "INVALID_URL"],
    ["file:///etc/passwd", "INVALID_URL"],
    ["https://exa mple.com/", "INVALID_URL"],
  ])("%s", async (location, code) => {
    const error = await failureOf(Promise.resolve(location).then(nextOf));
    expect(error.code).toBe(code);
  });

  it("relative locations are resolved against the URL that answered", () => {
    expect(nextOf("to?a=b")?.url.href).toBe("https://example.com/to?a=b");
  });

  it("locations that were not escaped are read as UTF-8", () => {
    const location = Buffer.from("/ü").toString("latin1");
    expect(nextOf(location)?.url.href).toBe("https://example.com/%C3%BC");
  });

  it("a refused hop still tells that the first was sent", async () => {
    await using server = await startRedirecting(302, () => "ftp://example.com/");
    const error = await failureOf(
      client.request(get(`${server.origin}/from`, { followRedirects: 1 })),
    );
    expect(error).toMatchObject({ code: "INVALID_URL", sent: true });
  });

  it("so does a hop that cannot be connected", async () => {
    await using server = await startRedirecting(302, () => "http://127.0.0.1:1/");
    const error = await failureOf(
      client.request(get(`${server.origin}/from`, { followRedirects: 1 })),
    );
    expect(error).toMatchObject({ code: "CONNECT_FAILED", sent: true });
  });
});
