import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startBrowser } from "@workflow/testkit";
import type { Browser, Page } from "playwright-core";
import { z } from "zod";
import { readSiteContents } from "../src/docs/site/site-contents.ts";
import { askRaw, coloursOf, openPage } from "./support/docs-pages.ts";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const PATHS = readSiteContents().pages.map(({ path }) => (path === "" ? "/docs" : `/docs/${path}`));

/** What would load or run something that the policy has no place for; links may lead elsewhere. */
const INLINE_OR_ELSEWHERE =
  /<script(?![^>]* src="\/)|<style| style=| on[a-z]+=|<(?!a )[^>]*(?:src|href)="(?:[a-z]+:)?\/\/|<(?:iframe|object|embed|img)\b/;

let test: TestGateway;
let clients = 0;

/** Each page is asked for by a client of its own: the limit of requests is by address. */
const asNewClient = () => {
  clients += 1;
  return { "x-forwarded-for": `198.51.${Math.floor(clients / 250)}.${(clients % 250) + 1}` };
};
const ask = (path: string, headers: Record<string, string> = {}) =>
  askRaw(test.url + path, { ...asNewClient(), ...headers });

beforeAll(async () => {
  test = await startTestGateway({ trustedProxies: 1 });
});
afterAll(() => test?.close());

describe("the documentation", () => {
  it("answers at each of its addresses, under a policy that lets in nothing from elsewhere", async () => {
    expect(PATHS).toEqual(
      expect.arrayContaining(
        ["quickstart", "concepts", "steps", "tables", "webhooks", "agents", "errors"].map(
          (name) => `/docs/${name}`,
        ),
      ),
    );
    for (const path of PATHS) {
      const { status, headers, body } = await ask(path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
      });
      const policy = String(headers["content-security-policy"]);
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy).not.toMatch(/https?:|\*|unsafe/);
      expect({ path, found: INLINE_OR_ELSEWHERE.exec(body.toString())?.[0] }).toEqual({ path });
    }
  });

  it("leads to nothing that is not there", async () => {
    const targets = new Set<string>();
    for (const path of PATHS) {
      const html = (await ask(path)).body.toString();
      for (const [, href = ""] of html.matchAll(/ href="(\/[^"#]*)/g)) targets.add(href);
    }
    expect(targets.size).toBeGreaterThan(PATHS.length);
    const answers: [string, number][] = [];
    for (const path of targets) answers.push([path, (await ask(path)).status]);
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });

  it("shows readers with a browser a page with contents and search where there is none", async () => {
    const path = '/docs/"><script>alert(1)</script>';
    const page = await ask(encodeURI(path), { accept: "text/html,*/*;q=0.8" });
    expect(page).toMatchObject({
      status: 404,
      headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" },
    });
    const html = page.body.toString();
    expect(html).toContain("There is no such page");
    expect(html).toContain('href="/docs/quickstart"');
    expect(html).toContain('role="search"');
    expect(html).not.toContain("alert(1)");
    expect(page.headers["vary"]).toMatch(/accept\b/i);
    const program = await ask("/docs/nothing", { accept: "*/*" });
    expect(program.status).toBe(404);
    expect(JSON.parse(program.body.toString())).toMatchObject({ error: { code: "NOT_FOUND" } });
  });

  it("is sent compressed, and 304 to who knows it; two pages have two tags", async () => {
    const plain = await ask("/docs/steps");
    const brotli = await ask("/docs/steps", { "accept-encoding": "br" });
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(brotli.body.length * 3).toBeLessThan(plain.body.length);
    const known = { "if-none-match": String(plain.headers["etag"]) };
    expect(await ask("/docs/steps", known)).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    expect((await ask("/docs/tables", known)).status).toBe(200);
  });

  it("is nowhere else: other names, endings and cases are 404", async () => {
    const names = ["nothing", "steps.md", "steps.html", "Steps", "index", "site.json", "steps/"];
    for (const path of [...names, "../package.json", "%2e%2e/site.json", "assets/site.css"]) {
      expect((await ask(`/docs/${path}`)).status).toBe(404);
    }
  });
});

describe("in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  /** A browser that is a client of its own. */
  const open = (path: string, options: object = {}) =>
    openPage(browser, { origin: test.url, path, extraHTTPHeaders: asNewClient(), ...options });

  it.each([
    ["desktop", { width: 1_280, height: 900 }],
    ["phone", { width: 360, height: 740 }],
  ])(
    "every page can be read at the width of a %s without a complaint or scrolling sideways",
    async (name, viewport) => {
      const found: unknown[] = [];
      const { page, problems } = await open("/docs", { viewport });
      for (const path of PATHS) {
        await page.setExtraHTTPHeaders(asNewClient());
        await page.goto(test.url + path);
        const excess: unknown = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        const landmarks = await page.locator("header, main, nav, h1").count();
        const screenshot = `docs${path.slice("/docs".length).replaceAll("/", "-")}-${name}`;
        const isShown = (await coloursOf(page, screenshot)) > 20;
        const complaints = problems.splice(0);
        found.push({ path, complaints, excess, isShown, hasLandmarks: landmarks >= 5 });
      }
      await page.context().close();
      const well = { complaints: [], excess: 0, isShown: true, hasLandmarks: true };
      expect(found).toEqual(PATHS.map((path) => ({ path, ...well })));
    },
    600_000,
  );

  it("the search finds a word, by the keyboard alone, and leads to its section", async () => {
    const { page, problems } = await open("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("idempotency");
    await page
      .getByRole("status")
      .filter({ hasText: /^\d+ sections$/ })
      .waitFor();
    const first = page.locator(".results a").first();
    expect(await first.innerText()).toMatch(/idempotency/i);
    expect(await coloursOf(page, "docs-search")).toBeGreaterThan(20);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/[a-z-]+#/);
    const target = await page
      .locator(":target")
      .evaluate((heading) => heading.parentElement?.textContent);
    expect(target).toMatch(/idempotency/i);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("the search takes what is typed as words, says when there is nothing, and closes", async () => {
    const { page, problems } = await open("/docs/concepts");
    const field = page.getByRole("searchbox");
    await field.fill("<img src=x onerror=alert(1)> .*+?[(");
    await page
      .getByRole("status")
      .filter({ hasText: /sections?$/ })
      .waitFor();
    await field.fill("zzzzqqqq");
    await page
      .getByRole("status")
      .filter({ hasText: /^0 sections$/ })
      .waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator(".results").isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("everything can be read without scripts, and chosen in each language", async () => {
    const { page } = await open("/docs/quickstart", { javaScriptEnabled: false });
    expect(await page.getByRole("search").isVisible()).toBe(false);
    const python = page.locator(".variants").first().getByText("import urllib.request");
    expect(await python.isVisible()).toBe(false);
    await page.locator(".variants").first().getByText("Python", { exact: true }).click();
    expect(await python.isVisible()).toBe(true);
    await page.getByRole("link", { name: "Concepts", exact: true }).first().click();
    await page.waitForURL("**/docs/concepts");
    await page.context().close();
  });

  it("a language that is chosen once is chosen everywhere on the page", async () => {
    const { page, problems } = await open("/docs/quickstart");
    const choosers = page.locator(".variants");
    await choosers.nth(1).getByText("TypeScript", { exact: true }).click();
    const chosen: unknown = await page.evaluate(
      "[...document.querySelectorAll('.variants input:checked')].map(({ value }) => value)",
    );
    expect(chosen).toEqual(Array.from({ length: await choosers.count() }, () => "ts"));
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it.each(["/docs/api", "/docs/grpc"])("%s fits a phone, too", async (path) => {
    const { page, problems } = await open(path, { viewport: { width: 360, height: 740 } });
    await page.getByRole("link", { name: "Guide", exact: true }).waitFor();
    const name = `${path.slice(1).replaceAll("/", "-")}-phone`;
    expect(await coloursOf(page, name)).toBeGreaterThan(20);
    const excess: unknown = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect({ excess, problems }).toEqual({ excess: 0, problems: [] });
    await page.context().close();
  });

  it("on a phone the contents open and close by a button", async () => {
    const { page, problems } = await open("/docs/steps", { viewport: { width: 360, height: 740 } });
    const contents = page.getByRole("navigation", { name: "Contents" });
    expect(await contents.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Contents" }).click();
    expect(await contents.isVisible()).toBe(true);
    expect(await coloursOf(page, "docs-contents-phone")).toBeGreaterThan(20);
    await page.keyboard.press("Escape");
    expect(await contents.isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("the first stop of the keyboard skips to the text, and each stop can be seen", async () => {
    const { page } = await open("/docs/concepts");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the text");
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#site-main");
    await page.keyboard.press("Tab");
    const outline: unknown = await page.evaluate(
      "getComputedStyle(document.activeElement).outlineStyle",
    );
    expect(outline).toBe("solid");
    await page.context().close();
  });

  it.each(["light", "dark"] as const)(
    "in %s colours every text stands out from its ground by 4.5 to 1 or more",
    async (colorScheme) => {
      for (const path of ["/docs", "/docs/quickstart", "/docs/errors", "/docs/verify-webhooks"]) {
        const { page } = await open(path, { colorScheme });
        expect(await weakTextsOf(page)).toEqual([]);
        await page.context().close();
      }
      const { page } = await open("/docs/steps", { colorScheme });
      expect(await coloursOf(page, `docs-steps-${colorScheme}`)).toBeGreaterThan(20);
      await page.context().close();
    },
  );

  it("on paper there is the text alone, in all languages", async () => {
    const { page } = await open("/docs/quickstart");
    await page.emulateMedia({ media: "print" });
    for (const part of ["header", ".contents", ".variants label"]) {
      expect(await page.locator(part).first().isVisible()).toBe(false);
    }
    expect(await page.getByText("import urllib.request").isVisible()).toBe(true);
    await page.context().close();
  });
});

/** Texts whose contrast with what is behind them is too small (WCAG 2.2, 1.4.3), with the number. */
async function weakTextsOf(page: Page): Promise<unknown> {
  const weak: unknown = await page.evaluate(`(() => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const luminance = ([r, g, b]) => [r, g, b]
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const groundOf = (element) => {
      for (let at = element; at !== null; at = at.parentElement) {
        const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
        if (alpha > 0) return [r, g, b];
      }
      throw new Error("The page has no ground.");
    };
    const texts = [...document.querySelectorAll("body *")].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ""));
    if (texts.length < 50) throw new Error("The page has few texts: " + texts.length);
    return texts.flatMap((element) => {
      const [high, low] = [channels(getComputedStyle(element).color), groundOf(element)]
        .map(luminance).sort((a, b) => b - a);
      const ratio = (high + 0.05) / (low + 0.05);
      return ratio >= 4.5 ? [] : [element.tagName + "." + element.className + " " + ratio];
    });
  })()`);
  return z.array(z.string()).parse(weak);
}
