import { describe, expect, it } from "@jest/globals";
import { callAction, ForeignUrlError } from "../src/index.ts";
import type { ActionManifest, ProviderManifest } from "../src/index.ts";
import { pageRequest } from "../src/pages.ts";

const access = { fields: {}, credentials: {} };
const provider: ProviderManifest = {
  id: "example",
  name: "Example",
  description: "",
  category: "crm",
  docs: "https://example.test",
  baseUrl: "https://api.example.test",
  auth: { kind: "own" },
  sign: {},
  verify: { method: "GET", path: "/" },
  errors: { code: ["code"], message: ["message"] },
  actions: [],
};

it("writes paging at the end of a query's text", () => {
  const first = {
    method: "GET" as const,
    path: "/query",
    query: { query: "select * from Bill" },
    headers: {},
    body: undefined,
  };
  const paging = {
    items: "QueryResponse.$list",
    member: "records",
    in: { textOf: "query" },
    size: { param: "MAXRESULTS", max: 1000 },
    next: { kind: "offset", param: "STARTPOSITION", first: 1 },
  } as const;
  const state = { items: ["a", "b"], pages: 1 };
  expect(pageRequest(paging, first, state, { next: 2, wanted: 8 }).query).toEqual({
    query: "select * from Bill STARTPOSITION 3 MAXRESULTS 8",
  });
});

describe("pages within a body", () => {
  const body = { day: "today", options: { account_ids: ["a"] } };
  const first = { method: "POST" as const, path: "/list", query: {}, headers: {}, body };
  const paging = {
    items: "items",
    member: "items",
    in: "body",
    size: { param: "options.count", max: 500 },
    next: { kind: "offset", param: "options.offset" },
  } as const;

  it("are asked for beside the members that are there, which stay as they were", () => {
    const request = pageRequest(
      paging,
      first,
      { items: ["a", "b"], pages: 1 },
      { next: 2, wanted: 8 },
    );
    expect(request.body).toEqual({
      day: "today",
      options: { account_ids: ["a"], count: 8, offset: 2 },
    });
    expect(body.options).toEqual({ account_ids: ["a"] });
  });
});

describe("a list with empty pages", () => {
  const action: ActionManifest = {
    name: "list",
    title: "List",
    description: "",
    docs: "https://example.test",
    inputs: [],
    outputs: ["things", "hasMore"],
    example: {},
    request: { method: "GET", path: "/things" },
    paging: {
      items: "items",
      member: "things",
      next: { kind: "cursor", from: "next", param: "cursor" },
    },
  };
  const listOf = async (pages: readonly (readonly number[])[]) => {
    let asked = 0;
    const send = () => {
      const items = pages[asked] ?? [];
      asked += 1;
      return Promise.resolve({ status: 200, headers: {}, body: { items, next: `page${asked}` } });
    };
    const result = await callAction({ provider, action }, { inputs: { limit: 2 }, access }, send);
    return { result, asked };
  };

  it("goes on behind some, which a provider that filters afterwards has", async () => {
    const { result } = await listOf([[], [1], [], [], [2]]);
    expect(result).toEqual({ ok: true, output: { things: [1, 2], hasMore: true } });
  });

  it("ends when they do not", async () => {
    const { result, asked } = await listOf([[1]]);
    expect(result).toEqual({ ok: true, output: { things: [1], hasMore: true } });
    expect(asked).toBe(6);
  });

  it("sends credentials to no other host that an answer names", async () => {
    const next = { kind: "url", from: "next" } as const;
    const byUrl = { ...action, paging: { items: "items", member: "things", next } };
    const target = { provider, action: byUrl };
    const listFrom = (url: string) => {
      const urls: string[] = [];
      const send = (request: { url: string }) => {
        urls.push(request.url);
        return Promise.resolve({
          status: 200,
          headers: {},
          body: { items: [1], ...(urls.length === 1 && { next: url }) },
        });
      };
      return callAction(target, { inputs: {}, access }, send).then(() => urls);
    };
    const own = "https://api.example.test/things?page=2";
    expect(await listFrom(own)).toEqual(["https://api.example.test/things", own]);
    for (const url of ["https://evil.test/", "//evil.test/", "http://api.example.test/"]) {
      await expect(listFrom(url)).rejects.toThrow(ForeignUrlError);
    }
  });
});

describe("hasMore of a list that is asked for by offset", () => {
  const listOf = async (there: number, limit: number, total?: "counted" | "uncounted") => {
    const paging = {
      items: "items",
      member: "things",
      size: { param: "limit", max: 3 },
      next: { kind: "offset", param: "offset", ...(total !== undefined && { total: "total" }) },
    } as const;
    const action: ActionManifest = {
      name: "list",
      title: "List",
      description: "",
      docs: "https://example.test",
      inputs: [],
      outputs: ["things", "hasMore"],
      example: {},
      request: { method: "GET", path: "/things" },
      paging,
    };
    const all = Array.from({ length: there }, (_, index) => index);
    let asked = 0;
    const send = ({ url }: { url: string }) => {
      asked += 1;
      const query = new URL(url).searchParams;
      const [from, size] = [Number(query.get("offset")), Number(query.get("limit"))];
      const items = all.slice(from, from + size);
      const counted = total === "counted" ? there : -1;
      return Promise.resolve({ status: 200, headers: {}, body: { items, total: counted } });
    };
    const result = await callAction({ provider, action }, { inputs: { limit }, access }, send);
    const { things, hasMore } = Object(Object(result).output);
    expect(things).toEqual(all.slice(0, limit));
    return { hasMore: Boolean(hasMore), asked };
  };

  it.each([undefined, "counted", "uncounted"] as const)(
    "says whether there is another item: %s",
    async (total) => {
      for (const limit of [1, 2, 3, 4, 6, 7]) {
        for (const there of [0, limit - 1, limit, limit + 1, limit + 5]) {
          const { hasMore } = await listOf(there, limit, total);
          expect({ limit, there, hasMore }).toEqual({ limit, there, hasMore: there > limit });
        }
      }
    },
  );

  it("costs no call more where a page can hold the item too, or where there is a total", async () => {
    expect((await listOf(9, 2)).asked).toBe(1);
    expect((await listOf(3, 3, "counted")).asked).toBe(1);
    expect((await listOf(3, 3)).asked).toBe(2);
  });
});
