import { describe, expect, it } from "@jest/globals";
import { buildParts, finishRequest } from "../src/build-request.ts";
import {
  baseUrlOf,
  conditionHolds,
  fieldProblem,
  fill,
  findFailure,
  InvalidInputError,
  json,
  MissingFieldError,
  readPath,
  text,
} from "../src/index.ts";
import type { ActionManifest, ProviderManifest } from "../src/index.ts";
import { nextPage, pageRequest } from "../src/pages.ts";

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

function actionWith(inputs: ActionManifest["inputs"]): ActionManifest {
  return {
    name: "act",
    title: "Act",
    description: "",
    docs: "https://example.test",
    inputs,
    outputs: [],
    request: { method: "POST", path: "/things" },
    example: {},
  };
}

describe("places in JSON", () => {
  const body = {
    time: "now",
    links: [
      { rel: "self", href: "a" },
      { rel: "next", href: "b" },
    ],
    accounts: [{ is_default: false }, { is_default: true, id: "2" }],
  };

  it.each([
    ["links.rel=next.href", "b"],
    ["links.rel=last.href", undefined],
    ["accounts.is_default=true.id", "2"],
    ["links.$last.href", "b"],
    ["$list.0.href", "a"],
    ["links.0.constructor", undefined],
  ])("%s", (path, value) => {
    expect(readPath(body, path)).toEqual(value);
  });
});

describe("patterns of hosts", () => {
  it("makes one label of a host name", () => {
    const host = fill("https://{accountId:host}.example.com", { accountId: "1234567_SB1" });
    expect(host).toBe("https://1234567-sb1.example.com");
  });

  it.each(["evil.com/", "a.b", "a@b", "-a", "a".repeat(64), "a#", "ü"])(
    "refuses %s",
    (accountId) => {
      expect(() => fill("https://{accountId:host}.example.com", { accountId })).toThrow(
        MissingFieldError,
      );
    },
  );
});

describe("fields of a connection", () => {
  const formed = {
    ...provider,
    baseUrl: "{instanceUrl}",
    fieldForms: { instanceUrl: /^https:\/\/[a-z]+\.example\.test$/ },
  };

  it("builds no address of a field that is not of its form", () => {
    const fields = { instanceUrl: "https://evil.test" };
    expect(fieldProblem(formed, fields)).toBe("instanceUrl");
    expect(() => baseUrlOf(formed, { fields, credentials: {} })).toThrow(MissingFieldError);
  });

  it("takes one that is, and says nothing of one that is missing", () => {
    const fields = { instanceUrl: "https://one.example.test" };
    expect(baseUrlOf(formed, { fields, credentials: {} })).toBe("https://one.example.test");
    expect(fieldProblem(formed, {})).toBeNull();
  });
});

describe("idempotency in the query", () => {
  const keyed = { ...provider, idempotencyQuery: { name: "requestid", max: 20 } };
  const urlOf = (method: "GET" | "POST", idempotencyKey: string) => {
    const parts = { method, path: "/things", query: {}, headers: {}, body: undefined };
    return finishRequest(keyed, {}, parts, { access, idempotencyKey }).url;
  };

  it("goes with writes alone, and a long key as its hash", () => {
    expect(urlOf("POST", "run_1:step")).toContain("requestid=run_1%3Astep");
    expect(urlOf("GET", "run_1:step")).not.toContain("requestid");
    const long = new URL(urlOf("POST", "k".repeat(21))).searchParams.get("requestid");
    expect(long).toMatch(/^[\w-]{20}$/);
    expect(urlOf("POST", "k".repeat(22))).not.toContain(String(long));
  });
});

describe("idempotency in the body", () => {
  const request = { idempotencyMember: "request_id" };
  const bodyOf = (body: unknown, idempotencyKey?: string) => {
    const parts = { method: "POST" as const, path: "/things", query: {}, headers: {}, body };
    const sent = finishRequest(provider, request, parts, { access, idempotencyKey });
    return JSON.parse(sent.body ?? "null");
  };

  it("is a UUID that is the same for the same key alone", () => {
    const { request_id: id } = bodyOf({}, "run_1:step:1");
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(bodyOf({ amount: 1 }, "run_1:step:1")).toEqual({ request_id: id, amount: 1 });
    expect(bodyOf({}, "run_1:step:2")).not.toEqual({ request_id: id });
  });

  it("is left to an input of that name, and to calls with a key", () => {
    expect(bodyOf({ request_id: "own" }, "run_1:step:1")).toEqual({ request_id: "own" });
    expect(bodyOf({ amount: 1 })).toEqual({ amount: 1 });
  });
});

describe("whether a later try may go well", () => {
  const told = {
    ...provider,
    errors: { ...provider.errors, finalCodes: ["ValueError"], retryableCodes: ["busy"] },
  };
  it.each([
    [500, "ValueError", false],
    [500, "OperationalError", true],
    [400, "busy", true],
    [400, "wrong", false],
    [429, "ValueError", true],
  ])("%d %s", (status, code, retryable) => {
    const failure = findFailure(told, { status, headers: {}, body: { code } }, 0);
    expect(failure?.retryable).toBe(retryable);
  });
});

describe("pages", () => {
  const first = { method: "GET" as const, path: "/", query: {}, headers: {}, body: undefined };
  const answer = (body: unknown) => ({ status: 200, headers: {}, body });

  it("are never asked for fewer items than the provider gives at least", () => {
    const paging = {
      items: "items",
      member: "items",
      size: { param: "size", max: 100, min: 10 },
      next: { kind: "cursor", from: "next", param: "after" },
    } as const;
    const state = { items: [], pages: 0 };
    expect(pageRequest(paging, first, state, { next: null, wanted: 3 }).query).toEqual({
      size: 10,
    });
    expect(pageRequest(paging, first, state, { next: null, wanted: 30 }).query).toEqual({
      size: 30,
    });
    expect(pageRequest(paging, first, state, { next: null, wanted: 300 }).query).toEqual({
      size: 100,
    });
  });

  it("end with the one that is not full where the total was not counted", () => {
    const paging = {
      items: "items",
      member: "items",
      next: { kind: "offset", param: "skip", total: "total" },
    } as const;
    const state = { items: [1, 2], pages: 1 };
    const next = (total: unknown, count: number) =>
      nextPage(paging, answer({ total }), state, { count, asked: 2 });
    expect(next(5, 2)).toBe(2);
    expect(next(2, 2)).toBeNull();
    expect(next(-1, 2)).toBe(2);
    expect(next(-1, 1)).toBeNull();
    expect(next(undefined, 1)).toBeNull();
  });
});

describe("objects among the inputs of a body", () => {
  it("join each other, and leave the inputs as they were", async () => {
    const action = actionWith([
      text("email", { as: "properties.email" }),
      json("properties"),
      json("rest", { as: "" }),
    ]);
    const inputs = { email: "a@b.c", properties: { city: "Rome" }, rest: { own: true } };
    const { body } = await buildParts(action, inputs, {});
    expect(body).toEqual({ properties: { email: "a@b.c", city: "Rome" }, own: true });
    expect(inputs.properties).toEqual({ city: "Rome" });
  });
});

describe("how long a limit lasts", () => {
  const limited = {
    ...provider,
    rateLimit: {
      codes: ["BURST"],
      resetHeader: { name: "X-Reset", unit: "seconds" },
      codeWaitsMs: { BURST: 30_000 },
      waitMs: 60_000,
    },
  } as const;
  const waitMs = (status: number, headers: Record<string, string>, body: unknown) =>
    findFailure(limited, { status, headers, body }, 0)?.retryAfterMs;

  it("is what Retry-After says, then the code, then the reset, then the usual", () => {
    expect(waitMs(429, { "retry-after": "7", "x-reset": "9" }, { code: "BURST" })).toBe(7_000);
    expect(waitMs(400, { "x-reset": "9" }, { code: "BURST" })).toBe(30_000);
    expect(waitMs(429, { "x-reset": "9" }, null)).toBe(9_000);
    expect(waitMs(429, {}, null)).toBe(60_000);
    expect(waitMs(503, {}, null)).toBeNull();
  });
});

describe("a condition", () => {
  const whenOn = { field: "state", value: ["on", true] } as const;

  it("finds a field that is missing equal to nothing", () => {
    expect(conditionHolds(whenOn, { state: "on" })).toBe(true);
    expect(conditionHolds(whenOn, { state: true })).toBe(true);
    for (const config of [{}, { state: null }, { state: "" }, { state: ["on"] }]) {
      expect(conditionHolds(whenOn, config)).toBe(false);
      expect(conditionHolds({ ...whenOn, not: true }, config)).toBe(true);
    }
    expect(conditionHolds({ ...whenOn, field: "toString" }, {})).toBe(false);
    expect(conditionHolds(whenOn, { state: "{{x}}" }, (value) => value === "{{x}}")).toBeNull();
  });
});

it("sends a long or unprintable idempotency key as its hash", () => {
  const keyed = { ...provider, idempotencyHeader: "Idempotency-Key" };
  const parts = { method: "POST" as const, path: "/x", query: {}, headers: {}, body: undefined };
  const keyOf = (idempotencyKey: string) =>
    finishRequest(keyed, {}, parts, { access, idempotencyKey }).headers["idempotency-key"];
  expect(keyOf("run_1:step:1")).toBe("run_1:step:1");
  expect(keyOf("k".repeat(256))).toMatch(/^[\w-]{43}$/);
  expect(keyOf("k\r\nx-evil: 1")).toMatch(/^[\w-]{43}$/);
  expect(keyOf("ü")).not.toBe(keyOf("ö"));
});

it("makes no path of a text that is no Unicode", async () => {
  const action = {
    ...actionWith([text("id")]),
    request: { method: "GET", path: "/things/{id}" },
  } as const;
  await expect(buildParts(action, { id: "\ud800" }, {})).rejects.toThrow(InvalidInputError);
});
