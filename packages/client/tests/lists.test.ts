import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createClient, InvalidAnswerError } from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";

let answer: DoubleHandler;
let double: HttpDouble;
let client: WorkflowClient;

const NAMES = ["a", "b", "c", "d", "e"];
const ITEMS = NAMES.map((name) => ({ name }));

beforeEach(async () => {
  double = await startHttpDouble((request, response) => answer(request, response));
  client = createClient({ baseUrl: `${double.url}/api/v1`, apiKey: "wfk_test" });
});

afterEach(() => double.close());

describe("a list with cursors", () => {
  beforeEach(() => {
    answer = ({ path }) => {
      const start = Number(new URL(path, double.url).searchParams.get("cursor") ?? 0);
      const hasMore = start + 2 < ITEMS.length;
      const meta = { cursor: hasMore ? String(start + 2) : null, hasMore };
      return good(ITEMS.slice(start, start + 2), meta);
    };
  });

  test("is read to its end, with the query on each page", async () => {
    const names: string[] = [];
    for await (const { name } of client.workflows.list({ status: "active" })) names.push(name);
    expect(names).toEqual(NAMES);
    expect(double.requests.map(({ path }) => path)).toEqual([
      "/api/v1/workflows?status=active",
      "/api/v1/workflows?status=active&cursor=2",
      "/api/v1/workflows?status=active&cursor=4",
    ]);
  });

  test("asks for no page that nobody reads", async () => {
    for await (const { name } of client.workflows.list()) if (name === "b") break;
    expect(double.requests).toHaveLength(1);
  });

  test("sends nothing before it is read", () => {
    client.workflows.list();
    expect(double.requests).toHaveLength(0);
  });

  test("gives its first page when it is awaited", async () => {
    const { items, meta } = await client.workflows.list();
    expect(items).toEqual(ITEMS.slice(0, 2));
    expect(meta).toEqual({ cursor: "2", hasMore: true });
    expect(double.requests).toHaveLength(1);
  });

  test("gives its pages, and all of it at once", async () => {
    const sizes: number[] = [];
    for await (const { items } of client.workflows.list().pages()) sizes.push(items.length);
    expect(sizes).toEqual([2, 2, 1]);
    await expect(client.workflows.list().all()).resolves.toEqual(ITEMS);
  });

  test("goes on where the caller was", async () => {
    await expect(client.workflows.list({ cursor: "4" }).all()).resolves.toEqual(ITEMS.slice(4));
  });
});

test("rows go on by their offset, in the body of a query and in the address", async () => {
  answer = ({ method, path, body }) => {
    const sent: unknown = method === "POST" ? JSON.parse(body) : queryOf(path);
    const start = z.object({ offset: z.coerce.number().default(0) }).parse(sent).offset;
    const meta = { total: 5, limit: 2, offset: start, hasMore: start + 2 < 5 };
    return good(ITEMS.slice(start, start + 2), meta);
  };
  const filter = { size: { values: [1] } };
  await expect(client.rows.query("t", { filter }).all()).resolves.toEqual(ITEMS);
  expect(double.requests.map(({ body }) => JSON.parse(body))).toEqual([
    { filter },
    { filter, offset: 2 },
    { filter, offset: 4 },
  ]);
  await expect(client.rows.list("t", { sort: "size" }).all()).resolves.toEqual(ITEMS);
  expect(double.requests.slice(3).map(({ path }) => path)).toEqual([
    "/api/v1/tables/t/rows?sort=size",
    "/api/v1/tables/t/rows?sort=size&offset=2",
    "/api/v1/tables/t/rows?sort=size&offset=4",
  ]);
});

test("a list without pages is read like all others", async () => {
  answer = () => good(ITEMS);
  await expect(client.tables.list().all()).resolves.toEqual(ITEMS);
  expect(double.requests).toHaveLength(1);
});

test("a page in the middle that fails is asked for again", async () => {
  let failures = 0;
  answer = ({ path }, response) => {
    if (!path.includes("cursor")) return good(ITEMS.slice(0, 2), { cursor: "2", hasMore: true });
    failures += 1;
    if (failures === 1) return void response.destroy();
    return good(ITEMS.slice(2), { cursor: null, hasMore: false });
  };
  await expect(client.workflows.list().all()).resolves.toEqual(ITEMS);
});

test.each([
  ["names the same cursor again", () => good(ITEMS, { cursor: "1", hasMore: true })],
  ["promises more and names no cursor", () => good(ITEMS, { cursor: null, hasMore: true })],
  ["promises more and says nothing else", () => good(ITEMS, { hasMore: true })],
  ["is no list", () => good({ items: ITEMS })],
])("a server whose page %s is not asked for ever", async (_, page) => {
  answer = page;
  await expect(client.workflows.list().all()).rejects.toBeInstanceOf(InvalidAnswerError);
});

test("a server that promises more behind an empty page is not asked for ever", async () => {
  answer = () => good([], { total: 9, limit: 2, offset: 0, hasMore: true });
  await expect(client.rows.query("t").all()).resolves.toEqual([]);
});

test("a server that names ever new cursors and gives nothing is not asked for ever", async () => {
  let pages = 0;
  answer = () => good([], { cursor: String((pages += 1)), hasMore: true });
  await expect(client.workflows.list().all()).rejects.toThrow("pages in a row were empty");
  expect(double.requests).toHaveLength(101);
});

test("empty pages between others are passed over", async () => {
  let pages = 0;
  answer = () => {
    pages += 1;
    const hasMore = pages < 301;
    const items = pages % 100 === 0 ? ITEMS.slice(0, 1) : [];
    return good(items, { cursor: hasMore ? String(pages) : null, hasMore });
  };
  await expect(client.workflows.list().all()).resolves.toHaveLength(3);
});

function queryOf(path: string): Record<string, string> {
  return Object.fromEntries(new URL(path, double.url).searchParams);
}

function good(data: unknown, meta?: unknown) {
  return { body: { success: true, data, ...(meta === undefined ? {} : { meta }) } };
}
