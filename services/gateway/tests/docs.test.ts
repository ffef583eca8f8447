import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startBrowser } from "@workflow/testkit";
import type { Browser, Page } from "playwright-core";
import { z } from "zod";
import { askRaw, coloursOf, openPage } from "./support/docs-pages.ts";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const VENDOR = new URL("../vendor/scalar/", import.meta.url);

/** Code and styles in the text of a page, and references to other hosts. */
const INLINE_OR_ELSEWHERE =
  /<script(?![^>]* src=)|<style| style=| on[a-z]+=|(?:src|href)="(?:[a-z]+:)?\/\//;

let test: TestGateway;

beforeAll(async () => {
  // Each test is a client of its own: the limit of requests is by address.
  test = await startTestGateway({ trustedProxies: 1 });
});
afterAll(() => test?.close());

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  askRaw(test.url + path, headers, method);

/** Paths of what the page loads, in the order of its text. */
async function partsOf(path: string): Promise<string[]> {
  const { body } = await ask(path, { "x-forwarded-for": "192.0.2.1" });
  return Array.from(
    body.toString().matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g),
    ([, part]) => String(part),
  );
}

describe("the API catalog", () => {
  const PATH = "/.well-known/api-catalog";

  it("leads everybody from the origin to the API, its description, its reference and its state", async () => {
    const { status, headers, body } = await ask(PATH);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    const api = "/api/v1";
    expect(JSON.parse(body.toString())).toEqual({
      linkset: [
        { anchor: PATH, item: [{ href: api }] },
        {
          anchor: api,
          "service-desc": [
            {
              href: `${api}/openapi.json`,
              type: "application/vnd.oai.openapi+json;version=3.1",
            },
          ],
          "service-doc": [
            { href: "/docs", type: "text/html" },
            { href: "/docs/api", type: "text/html" },
          ],
          status: [{ href: "/readyz", type: "application/json" }],
        },
      ],
    });
    for (const target of ["/api/v1/openapi.json", "/docs", "/docs/api", "/readyz"]) {
      expect((await ask(target, { "x-forwarded-for": "192.0.2.2" })).status).toBe(200);
    }
  });

  it("answers HEAD with the same headers and Link, and 304 to those who know it", async () => {
    const whole = await ask(PATH);
    const head = await ask(PATH, {}, "HEAD");
    expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    for (const name of ["content-type", "content-length", "etag", "link"]) {
      expect(head.headers[name]).toBe(whole.headers[name]);
    }
    expect(head.headers["link"]).toContain('rel="api-catalog"');
    const again = await ask(PATH, { "if-none-match": String(whole.headers["etag"]) });
    expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    expect(await ask(PATH, {}, "POST")).toMatchObject({
      status: 405,
      headers: { allow: expect.stringContaining("GET, HEAD") },
    });
  });

  it("names the origin of PUBLIC_URL, and never the host that a request names", async () => {
    const { body } = await ask(PATH, { host: "evil.example", "x-forwarded-proto": "https" });
    expect(body).toEqual((await ask(PATH)).body);
    const named = await startTestGateway({ publicUrl: "https://workflows.example" });
    try {
      const text = await (await fetch(named.url + PATH)).text();
      expect(text).toContain('"https://workflows.example/docs"');
      expect(text).not.toContain("127.0.0.1");
    } finally {
      await named.close();
    }
  });
});

describe("the references below /docs", () => {
  it.each(["/docs/api", "/docs/grpc"])(
    "%s goes out under a policy that lets in nothing from elsewhere, and no script in its text",
    async (path) => {
      const { status, headers, body } = await ask(path, { "x-forwarded-for": "192.0.2.3" });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
      });
      const policy = String(headers["content-security-policy"]);
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
      expect(policy.includes("script-src")).toBe(path === "/docs/api");
      expect(body.toString().match(INLINE_OR_ELSEWHERE)).toBeNull();
    },
  );

  it("everything is sent compressed, as the client can read it, and has a tag of its own so", async () => {
    const from = { "x-forwarded-for": "192.0.2.4" };
    for (const path of ["/docs/api", "/docs/grpc", ...(await partsOf("/docs/api"))]) {
      const plain = await ask(path, from);
      const brotli = await ask(path, { ...from, "accept-encoding": "gzip, deflate, br, zstd" });
      const gzip = await ask(path, { ...from, "accept-encoding": "gzip, br;q=0" });
      expect(plain.headers["content-encoding"]).toBeUndefined();
      expect(brotli.headers["content-encoding"]).toBe("br");
      expect(gzip.headers["content-encoding"]).toBe("gzip");
      expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      const tags = [plain, brotli, gzip].map(({ headers }) => String(headers["etag"]));
      expect(new Set(tags).size).toBe(3);
      expect(plain.headers["vary"]).toContain("Accept-Encoding");
      const known = { ...from, "if-none-match": tags[0] ?? "" };
      expect(await ask(path, known)).toMatchObject({ status: 304, body: Buffer.alloc(0) });
      const head = await ask(path, from, "HEAD");
      expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
      expect(head.headers["content-length"]).toBe(String(plain.body.length));
    }
  });

  it("assets are kept for good under names that change with them; the script is the vendored one", async () => {
    const parts = [...(await partsOf("/docs/api")), ...(await partsOf("/docs/grpc"))];
    expect(parts).toHaveLength(4);
    for (const path of parts) {
      const { headers } = await ask(path, { "x-forwarded-for": "192.0.2.5" });
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    }
    const { version, sha256 } = z
      .object({ version: z.string(), sha256: z.string() })
      .parse(JSON.parse(await readFile(new URL("source.json", VENDOR), "utf8")));
    const path = `/docs/assets/scalar-${version}.js`;
    expect(parts).toContain(path);
    const { body } = await ask(path, { "x-forwarded-for": "192.0.2.5" });
    expect(createHash("sha256").update(body).digest("hex")).toBe(sha256);
    for (const missing of ["/docs/assets/scalar-0.0.0.js", "/docs/nothing", "/docs/assets/"]) {
      expect((await ask(missing)).status).toBe(404);
    }
    expect(await ask("/docs/api", {}, "POST")).toMatchObject({ status: 405 });
  });

  it("one address has 120 requests a minute, others go on", async () => {
    const from = { "x-forwarded-for": "192.0.2.6" };
    const statuses: number[] = [];
    for (let count = 0; count < 120; count += 1)
      statuses.push((await ask("/docs/api", from)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const [part = ""] = await partsOf("/docs/api");
    const refused = await ask(part, from);
    expect(refused).toMatchObject({
      status: 429,
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
    });
    expect(refused.headers["cache-control"]).toBe("no-store");
    expect((await ask(part, { "x-forwarded-for": "192.0.2.7" })).status).toBe(200);
  });
});

describe("in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const open = (path: string) => openPage(browser, { origin: test.url, path });

  /** Finds an operation by the page's own search, however the sidebar groups it. */
  async function goTo(page: Page, summary: string): Promise<void> {
    await page
      .getByRole("button", { name: /Search/ })
      .first()
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("input").fill(summary);
    await dialog.getByRole("option", { name: summary }).first().click();
  }

  it("the reference shows the operations and asks nobody but this server", async () => {
    const { page, problems } = await open("/docs/api");
    expect(await page.title()).toContain("Workflow automation API");
    await goTo(page, "Get a workflow");
    await page.getByRole("heading", { name: "Get a workflow", exact: true }).waitFor();
    await page.getByRole("button", { name: /\(get \/workflows\/\{id\}\)$/ }).waitFor();
    expect(await coloursOf(page, "docs-api")).toBeGreaterThan(20);
    const hosts: unknown = await page.evaluate(`[...document.querySelectorAll("a[href]")]
      .filter((link) => link.checkVisibility() && link.origin !== location.origin)
      .map((link) => link.href)`);
    expect(hosts).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it("a request can be tried with an API key, which the browser does not keep", async () => {
    const { page, problems } = await open("/docs/api");
    const operation = page.getByRole("button", { name: /\(get \/blocks\)$/ });
    const dialog = page.getByRole("dialog");
    await goTo(page, "List the blocks of the catalog");
    await operation.click();
    await dialog.locator("input.scalar-password-input").fill(test.company.apiKey);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().startsWith(`${test.url}/api/v1/blocks`)),
      page.keyboard.press("Control+Enter"),
    ]);
    // Of the optional parameters none, whatever their examples.
    expect(answer.url()).toBe(`${test.url}/api/v1/blocks`);
    expect(answer.status()).toBe(200);
    await dialog.getByText("200 OK").waitFor();
    const kept: unknown = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(),
    ]))()`);
    expect(kept).toMatch(/\[\]\]$/);
    expect(kept).not.toContain(test.company.apiKey);
    await page.reload();
    await goTo(page, "List the blocks of the catalog");
    await operation.click();
    expect(await dialog.locator("input.scalar-password-input").inputValue()).toBe("");
    expect(problems).toEqual([]);
    await page.close();
  });

  it("the gRPC reference shows methods and fields without a script", async () => {
    const { page, problems } = await open("/docs/grpc");
    await page.getByRole("heading", { name: "rpc StartRun", exact: true }).waitFor();
    await page.getByRole("link", { name: "GetWorkflow", exact: true }).first().click();
    expect(new URL(page.url()).hash).toBe("#workflow.workflows.v1.WorkflowsService.GetWorkflow");
    expect(await coloursOf(page, "docs-grpc")).toBeGreaterThan(20);
    expect(problems).toEqual([]);
    await page.close();
  });
});
