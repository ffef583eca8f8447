import { mkdir } from "node:fs/promises";
import { request as sendRequest } from "node:http";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { z } from "zod";

const SCREENSHOTS = fileURLToPath(new URL("../../../../.cache/screenshots/", import.meta.url));

/** A browser on a machine with other work to do is slow. */
const PATIENCE_MS = 120_000;

/** An answer as it came. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Sends exactly these headers and leaves the body as it comes; fetch would unpack it. */
export function askRaw(
  url: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    sendRequest(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, body: Buffer.concat(chunks) });
      });
    })
      .once("error", reject)
      .end();
  });
}

/** A page in the browser, and what it has complained of until now. */
export interface OpenPage {
  page: Page;
  problems: string[];
}

/** Opens a page and notes what it complains of, and whom but its origin it asks. */
export async function openPage(
  browser: Browser,
  { origin, path, ...options }: BrowserContextOptions & { origin: string; path: string },
): Promise<OpenPage> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 }, ...options });
  page.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== "data:") {
      problems.push(`asks ${request.url()}`);
    }
  });
  await page.goto(origin + path);
  return { page, problems };
}

/** How many colours a screenshot of the page shows: a blank one has a single one. It is kept in `.cache/screenshots`. */
export async function coloursOf(page: Page, name: string): Promise<number> {
  await mkdir(SCREENSHOTS, { recursive: true });
  const image = await page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page belongs to no browser.");
  const blank = await blankPageOf(browser);
  const source = JSON.stringify(`data:image/png;base64,${image.toString("base64")}`);
  const colours: unknown = await blank.evaluate(`(async () => {
    const image = new Image();
    image.src = ${source};
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
  return z.number().parse(colours);
}

const blankPages = new WeakMap<Browser, Promise<Page>>();

/** A page for pictures, which lives as long as its browser: many are looked at. */
function blankPageOf(browser: Browser): Promise<Page> {
  const known = blankPages.get(browser) ?? browser.newPage();
  blankPages.set(browser, known);
  return known;
}
