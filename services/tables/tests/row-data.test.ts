import { describe, expect, it } from "@jest/globals";
import { parseRowData } from "../src/domain/row-data.ts";
import { problemsOf } from "./support/problems-of.ts";

const MIB = 1024 * 1024;

describe("data of a row", () => {
  it("is stored without white space, its members in their order", () => {
    expect(parseRowData(' { "b" : 1.0 , "a" : [ null , "x y" ] } ')).toBe(
      '{"b":1,"a":[null,"x y"]}',
    );
  });

  it("keeps the last of members with the same key", () => {
    expect(parseRowData('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
  });

  it("keeps keys that objects of JavaScript have anyway", () => {
    const text = '{"__proto__":{"x":1},"constructor":2,"toString":null,"":4}';
    expect(parseRowData(text)).toBe(text);
  });

  it.each(["", "null", "[]", "5", '"x"', "{", "{'a':1}", '{"a":NaN}', '{"a":1}x'])(
    "refuses %j, which is no JSON object",
    (text) => {
      expect(problemsOf(() => parseRowData(text))).toHaveLength(1);
    },
  );

  it("names the place under which callers know it", () => {
    expect(problemsOf(() => parseRowData("[]", ["rows", "7"]))).toEqual([
      "rows.7: must be a JSON object",
    ]);
  });

  it("may have 1 MiB in UTF-8 and not a byte more", () => {
    const filled = (bytes: number) => `{"é":"${"x".repeat(bytes - 9)}"}`;
    const largest = filled(MIB);
    expect(Buffer.byteLength(largest)).toBe(MIB);
    expect(parseRowData(largest)).toBe(largest);
    expect(problemsOf(() => parseRowData(filled(MIB + 1)))).toEqual([
      "data: must have at most 1048576 bytes",
    ]);
  });

  it("may have 1 MiB as it is stored, so that it can be sent back", () => {
    const numbers = (count: number) => `{"a":[${Array(count).fill("1e15").join(",")}]}`;
    const most = Math.floor(MIB / "1000000000000000,".length);
    expect(Buffer.byteLength(parseRowData(numbers(most)))).toBeLessThanOrEqual(MIB);
    expect(problemsOf(() => parseRowData(numbers(most + 1)))).toEqual([
      "data: must have at most 1048576 bytes",
    ]);
  });

  it("may nest 64 containers and not one more", () => {
    const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(parseRowData(nested(64))).toBe(nested(64));
    expect(problemsOf(() => parseRowData(nested(65)))).toHaveLength(1);
    expect(problemsOf(() => parseRowData(nested(500_000)))).toHaveLength(1);
  });

  it.each([
    '{"a":"\\u0000"}',
    '{"\\u0000":1}',
    '{"a":"\\ud800"}',
    '{"\\udc00a":1}',
    '{"a":"\ud800"}',
  ])("refuses NUL and unpaired surrogates: %j", (text) => {
    expect(problemsOf(() => parseRowData(text))).toEqual([
      "data: must not contain NUL or unpaired surrogates",
    ]);
  });
});

describe("numbers in the data of a row", () => {
  it.each([
    ["9007199254740992", "9007199254740992"],
    ["-9007199254740992", "-9007199254740992"],
    ["9007199254740992.0", "9007199254740992"],
    ["90071992547409.92e2", "9007199254740992"],
    ["9007199254740991", "9007199254740991"],
    ["-0", "0"],
    ["1e21", "1e+21"],
    ["6.02214076e23", "6.02214076e+23"],
    ["1.7976931348623157e308", "1.7976931348623157e+308"],
    ["5e-324", "5e-324"],
    ["1e-400", "0"],
    ["0.1000000000000000055511151231257827", "0.1"],
    ["1.50", "1.5"],
  ])("%s is kept as %s", (source, stored) => {
    expect(parseRowData(`{"n":${source}}`)).toBe(`{"n":${stored}}`);
  });

  it.each([
    "9007199254740993",
    "-9007199254740993",
    "9007199254740993.0",
    "9007199254740993e0",
    "9007199254740994",
    "12345678901234567890",
    "10000000000000000",
    "1e16",
    "1e20",
    "1000000000000000000000000",
    "1e309",
    "-1e400",
  ])("%s would not be kept and is refused (D5)", (source) => {
    expect(problemsOf(() => parseRowData(`{"a":[{"n":${source}}]}`))).toEqual([
      expect.stringMatching(/^data\.a\.0\.n: is a number that would not be kept/),
    ]);
  });

  it("each lost one is told, up to 50", () => {
    expect(problemsOf(() => parseRowData('{"a":1e999,"b":1,"c":{"__proto__":1e999}}'))).toEqual([
      expect.stringMatching(/^data\.a: /),
      expect.stringMatching(/^data\.c\.__proto__: /),
    ]);
    const many = `{"a":[${Array.from({ length: 80 }, () => "1e999").join(",")}]}`;
    expect(problemsOf(() => parseRowData(many))).toHaveLength(50);
  });

  it("whatever is accepted is accepted again as it was stored", () => {
    for (const source of ["1e21", "123456789012345678901e5", "9007199254740992.0", "1e308"]) {
      const stored = parseRowData(`{"n":${source}}`);
      expect(parseRowData(stored)).toBe(stored);
    }
  });

  it("digits in strings are not numbers", () => {
    const text = '{"n":"9007199254740993","m":"1e999"}';
    expect(parseRowData(text)).toBe(text);
  });
});
