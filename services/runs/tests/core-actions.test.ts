import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { ACTIONS, renderText } from "@workflow/definition";
import { fc } from "@workflow/testkit/property-test";
import { findPureAction } from "../src/interpreter/actions/registry.ts";

function run(id: string, inputs: unknown): unknown {
  const action = findPureAction(id);
  if (action === undefined) throw new Error(`no action ${id}`);
  return action(inputs);
}

/** What a failing action says; fails the test when it does not fail, or may be retried. */
function refusal(id: string, inputs: unknown): string {
  try {
    run(id, inputs);
  } catch (error) {
    expect(error).toMatchObject({ name: "StepError", code: "INVALID_INPUT", retryable: false });
    return error instanceof Error ? error.message : "";
  }
  throw new Error(`${id} took ${JSON.stringify(inputs)}`);
}

describe("pure actions", () => {
  it("are all those of the definition that have no effect", () => {
    const effects = ["http.request", "workflow.respond"];
    const pure = ACTIONS.map(({ id }) => id).filter(
      (id) => !effects.includes(id) && !id.startsWith("table."),
    );
    expect(pure.filter((id) => findPureAction(id) === undefined)).toEqual([]);
    expect([...effects, "constructor", "__proto__", ""].filter(findPureAction)).toEqual([]);
  });

  it.each([undefined, null, "text", 7, [], {}])("refuse %j as inputs", (inputs) => {
    for (const { id } of ACTIONS) {
      if (findPureAction(id) !== undefined) refusal(id, inputs);
    }
  });
});

describe("json.parse", () => {
  it.each([
    ['{"a":[1,"x",null,true]}', { a: [1, "x", null, true] }],
    [' "text" ', "text"],
    ["0", 0],
    ["null", null],
  ])("reads %s", (text, value) => {
    expect(run("json.parse", { text })).toEqual({ value });
  });

  it("keeps __proto__ a member like any other", () => {
    const output = run("json.parse", { text: '{"__proto__":{"admin":true}}' });
    expect(JSON.stringify(output)).toBe('{"value":{"__proto__":{"admin":true}}}');
    expect(Object.hasOwn({}, "admin")).toBe(false);
  });

  it.each([
    ['{"a":x}', 1, 6],
    ["", 1, 1],
    ["  ", 1, 3],
    ['{"a":1,}', 1, 8],
    ["[1,\n  2,]", 2, 5],
    ["[1 2]", 1, 4],
    ['{"a" 1}', 1, 6],
    ["{1:2}", 1, 2],
    ['"open', 1, 1],
    ['"bad \\x"', 1, 1],
    ["[01]", 1, 3],
    ["{}\n{}", 2, 1],
    ["]", 1, 1],
    ["[1}", 1, 3],
    ["nul", 1, 1],
    ['{"a":}', 1, 6],
  ])("tells where %j stops being JSON", (text, line, column) => {
    expect(refusal("json.parse", { text })).toBe(
      `text is not valid JSON at line ${line}, column ${column}.`,
    );
  });

  it("does not quote the text, which may hold a secret", () => {
    expect(refusal("json.parse", { text: '{"k": s3cret}' })).not.toContain("s3cret");
  });

  it("finds a place for every text that is not JSON", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (valid, at, inserted) => {
        const index = at % (valid.length + 1);
        const text = valid.slice(0, index) + inserted + valid.slice(index);
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        if (isJson) return;
        expect(refusal("json.parse", { text })).toMatch(/line \d+, column \d+\.$/);
      }),
    );
  });

  it("reads 64 levels and refuses one more", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(run("json.parse", { text: nested(64) })).toHaveProperty("value");
    expect(refusal("json.parse", { text: nested(65) })).toContain("64");
    expect(refusal("json.parse", { text: nested(500_000) })).toContain("64");
    expect(refusal("json.parse", { text: "[".repeat(500_000) })).toContain("column 500001");
  });

  it.each([[7], [null], [{}]])("refuses %j as text", (text) => {
    expect(refusal("json.parse", { text })).toMatch(/^text must be a text, not /);
  });
});

describe("json.stringify", () => {
  it("writes any value, indented on demand", () => {
    const value = { a: [1, {}], b: "x" };
    expect(run("json.stringify", { value })).toEqual({ text: '{"a":[1,{}],"b":"x"}' });
    expect(run("json.stringify", { value, indent: 2 })).toEqual({
      text: JSON.stringify(value, null, 2),
    });
    expect(run("json.stringify", { value: null, indent: null })).toEqual({ text: "null" });
  });

  it.each([-1, 11, 1.5, "2"])("refuses to indent by %j", (indent) => {
    expect(refusal("json.stringify", { value: [], indent })).toMatch(/^indent must be /);
  });

  it("refuses what would be larger than a result may be, before writing it", () => {
    let value: unknown = Array.from({ length: 10_000 }, () => [1]);
    for (let depth = 0; depth < 60; depth += 1) value = [value];
    expect(() => run("json.stringify", { value, indent: 10 })).toThrow(
      expect.objectContaining({ code: "OUTPUT_TOO_LARGE", retryable: false }),
    );
    expect(run("json.stringify", { value })).toHaveProperty("text");
  });
});

describe("text.template", () => {
  it("fills placeholders from values", () => {
    const inputs = {
      template: "Hi {{name}}, {{a.b[0]}}{{none}}!",
      values: { name: "Ada", a: { b: [1] } },
    };
    expect(run("text.template", inputs)).toEqual({ text: "Hi Ada, 1!" });
    expect(run("text.template", inputs)).toEqual({
      text: renderText(inputs.template, inputs.values),
    });
  });

  it("does not look at what a placeholder brought in, nor at what values inherit", () => {
    const values = { a: "{{b}}", b: "secret" };
    expect(run("text.template", { template: "{{a}}", values })).toEqual({ text: "{{b}}" });
    expect(run("text.template", { template: "[{{constructor.name}}]", values })).toEqual({
      text: "[]",
    });
  });

  it("has empty placeholders when a template left no values", () => {
    expect(run("text.template", { template: "[{{a}}]", values: null })).toEqual({ text: "[]" });
  });

  it.each([[[]], ["x"], [7]])("refuses %j as values", (values) => {
    expect(refusal("text.template", { template: "x", values })).toBe("values must be an object.");
  });
});

describe("datetime.format", () => {
  it.each([
    ["2024-03-10T06:59:59Z", "America/New_York", "2024-03-10 01:59:59 -05:00"],
    ["2024-03-10T07:00:00Z", "America/New_York", "2024-03-10 03:00:00 -04:00"],
    ["2024-10-27T00:59:00Z", "Europe/Berlin", "2024-10-27 02:59:00 +02:00"],
    ["2024-10-27T01:00:00Z", "Europe/Berlin", "2024-10-27 02:00:00 +01:00"],
    ["2024-01-01", "Asia/Kathmandu", "2024-01-01 05:45:00 +05:45"],
    [1_700_000_000_000, undefined, "2023-11-14 22:13:20 +00:00"],
    ["2023-11-14T22:13:20.123456789+05:30", null, "2023-11-14 16:43:20 +00:00"],
  ])("writes %s in %s as %s", (value, timezone, text) => {
    const inputs = { value, format: "yyyy-MM-dd HH:mm:ss ZZ", timezone };
    expect(run("datetime.format", inputs)).toEqual({ text });
  });

  it("speaks English wherever the service runs", () => {
    const inputs = { value: "2024-03-10", format: "cccc d LLLL" };
    expect(run("datetime.format", inputs)).toEqual({ text: "Sunday 10 March" });
  });

  it.each(["system", "local", "Mars/Base", "", "UTC+3"])("refuses the zone %j", (timezone) => {
    expect(refusal("datetime.format", { value: 0, format: "yyyy", timezone })).toMatch(
      /^timezone /,
    );
  });

  it.each(["yesterday", "2024-02-30", "", "2024-13-01T00:00:00Z", null, {}, 1e15, -1e15])(
    "refuses the time %j",
    (value) => {
      expect(refusal("datetime.format", { value, format: "yyyy" })).toMatch(/^value /);
    },
  );

  it("refuses a format that is overlong", () => {
    expect(refusal("datetime.format", { value: 0, format: "y".repeat(1_001) })).toMatch(/^format /);
  });
});

describe("datetime.add", () => {
  it.each([
    ["2024-01-31T10:00:00Z", 1, "months", "2024-02-29T10:00:00.000Z"],
    ["2023-01-31T10:00:00Z", 1, "months", "2023-02-28T10:00:00.000Z"],
    ["2024-02-29", 1, "years", "2025-02-28T00:00:00.000Z"],
    ["2024-03-31", -1, "months", "2024-02-29T00:00:00.000Z"],
    ["2024-03-09T12:00:00-05:00", 1, "days", "2024-03-10T17:00:00.000Z"],
    ["2024-12-30", 1, "weeks", "2025-01-06T00:00:00.000Z"],
    [0, 1.5, "hours", "1970-01-01T01:30:00.000Z"],
    [0, 90_061_001, "milliseconds", "1970-01-02T01:01:01.001Z"],
  ])("moves %s by %d %s to %s", (value, amount, unit, moved) => {
    expect(run("datetime.add", { value, amount, unit })).toEqual({ value: moved });
  });

  it.each([1e308, 1e16, 1e12, -1e12, 8_000])("refuses %d years", (amount) => {
    expect(refusal("datetime.add", { value: "2024-01-01", amount, unit: "years" })).toMatch(
      /^amount /,
    );
  });

  it.each([
    [{ amount: "1", unit: "days" }, /^amount must be a number/],
    [{ amount: 1.5, unit: "months" }, /^amount must be a whole number of months/],
    [{ amount: 1, unit: "fortnights" }, /^unit must be one of milliseconds, /],
    [{ amount: 1, unit: "constructor" }, /^unit must be one of /],
  ])("refuses %j", (inputs, message) => {
    expect(refusal("datetime.add", { value: "2024-01-01", ...inputs })).toMatch(message);
  });
});

describe("datetime.diff", () => {
  it.each([
    ["2024-01-01", "2024-01-02T12:00:00Z", "days", 1.5],
    ["2024-01-02", "2024-01-01", "hours", -24],
    ["2024-03-30", "2024-03-31", "days", 1],
    ["2024-01-31", "2024-02-29", "months", 1],
    ["2023-02-28", "2024-02-28", "years", 1],
    [0, 1, "seconds", 0.001],
    [5, 5, "weeks", 0],
    ["0100-01-01", "9999-12-31", "milliseconds", 312_413_673_600_000],
  ])("from %s to %s in %s is %d", (from, to, unit, value) => {
    expect(run("datetime.diff", { from, to, unit })).toEqual({ value });
  });

  it("names the end that is wrong", () => {
    expect(refusal("datetime.diff", { from: "x", to: 0, unit: "days" })).toMatch(/^from /);
    expect(refusal("datetime.diff", { from: 0, to: NaN, unit: "days" })).toMatch(/^to /);
  });

  it("takes back what datetime.add gave, in units that are always as long", () => {
    const unit = fc.constantFrom("milliseconds", "seconds", "minutes", "hours", "days", "weeks");
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 4e12 }),
        fc.integer({ min: -1e4, max: 1e4 }),
        unit,
        (from, amount, each) => {
          const moved = run("datetime.add", { value: from, amount, unit: each });
          const to = new Map(Object.entries(Object(moved))).get("value");
          expect(run("datetime.diff", { from, to, unit: each })).toEqual({ value: amount });
        },
      ),
    );
  });
});

describe("crypto", () => {
  const algorithms = ["sha256", "sha384", "sha512", "sha1", "md5"];
  it.each(algorithms)("hashes UTF-8 with %s in each encoding", (algorithm) => {
    const text = "Grüße, 世界";
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const inputs = { algorithm, text, encoding };
      expect(run("crypto.hash", inputs)).toEqual({
        digest: createHash(algorithm).update(text).digest(encoding),
      });
      expect(run("crypto.hmac", { ...inputs, key: "k€y" })).toEqual({
        digest: createHmac(algorithm, "k€y").update(text).digest(encoding),
      });
    }
    expect(run("crypto.hash", { algorithm, text })).toEqual({
      digest: createHash(algorithm).update(text).digest("hex"),
    });
  });

  it.each([
    ["crypto.hash", { algorithm: "sha3-256", text: "x" }, /^algorithm must be one of sha256, /],
    ["crypto.hash", { algorithm: "sha256", text: 7 }, /^text must be a text, not a number/],
    [
      "crypto.hash",
      { algorithm: "sha256", text: "x", encoding: "utf8" },
      /^encoding must be one of/,
    ],
    ["crypto.hash", { algorithm: "sha256", text: "x".repeat(2 ** 20 + 1) }, /^text is longer/],
    ["crypto.hmac", { algorithm: "sha256", text: "x" }, /^key must be a text, not missing/],
    ["crypto.hmac", { algorithm: "sha256", text: "x", key: "" }, /^key must not be empty/],
  ])("%s refuses %j", (id, inputs, message) => {
    expect(refusal(id, inputs)).toMatch(message);
  });
});
