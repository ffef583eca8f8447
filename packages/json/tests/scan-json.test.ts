import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { isJsonProblem, scanJsonObject } from "../src/scan-json.ts";

function problemOf(text: string) {
  const outcome = scanJsonObject(text);
  return isJsonProblem(outcome) ? outcome : null;
}

describe("scanJsonObject", () => {
  it("accepts exactly the objects that JSON.parse accepts", () => {
    const jsonLike = fc.oneof(
      fc.json(),
      fc.json().map((text) => `{"a":${text}}`),
      fc.json({ noUnicodeString: false }).map((text) => ` { "b" :\t${text} , "c" : 1e-2 }\r\n`),
      fc
        .tuple(
          fc.json(),
          fc.nat(),
          fc.constantFrom(",", "}", "]", '"', "\\", "0", "e", "\u0001", ""),
        )
        .map(([text, at, piece]) => {
          const whole = `{"a":${text}}`;
          const index = at % whole.length;
          return whole.slice(0, index) + piece + whole.slice(index + 1);
        }),
      fc.string({ unit: fc.constantFrom(...'{}[]:,"\\u0aE+-.1tfn \n'.split("")), maxLength: 20 }),
    );
    fc.assert(
      fc.property(jsonLike, (text) => {
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          parsed = undefined;
        }
        const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
        const problem = problemOf(text);
        if (problem?.kind === "text" || problem?.kind === "depth") return;
        expect(problem === null).toBe(isObject);
      }),
      { numRuns: 5_000 },
    );
  });

  it("cuts out each member as the text that was sent, the last one of a name", () => {
    const members = scanJsonObject(
      '{ "a" : {"__proto__":1, "9":0,"1":0}, "\\u0062": [1.0, 1e400,  2] ,"a2":"x\\n","c":1,"c":2 }',
    );
    if (isJsonProblem(members)) throw new Error("not accepted");
    expect([...members]).toEqual([
      ["a", '{"__proto__":1, "9":0,"1":0}'],
      ["b", "[1.0, 1e400,  2]"],
      ["a2", '"x\\n"'],
      ["c", "2"],
    ]);
  });

  it.each([
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ["{'a':1}", 1],
    ['{"a":01}', 6],
    ['{"a":tru}', 5],
    ['{"a":"\u0001"}', 6],
    ['{"a":"\\x"}', 7],
    ['{"a":"\\u12g4"}', 8],
    ['{"a":"b', 7],
    ['{"a":1}}', 7],
    ["", 0],
  ])("names the position of what is wrong in %j", (text, position) => {
    expect(problemOf(text)).toEqual({ kind: "syntax", position });
  });

  it("accepts 64 nested containers and refuses 65, however deep they go", () => {
    const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(problemOf(nested(64))).toBeNull();
    expect(problemOf(nested(65))?.kind).toBe("depth");
    expect(problemOf(nested(200_000))?.kind).toBe("depth");
    expect(problemOf("[".repeat(200_000))?.kind).toBe("depth");
  });

  it.each([
    '{"a":"\\u0000"}',
    '{"a":"\\ud800"}',
    '{"a":"\\udc00\\ud800"}',
    '{"a":"\\ud83dx"}',
    '{"\\u0000":1}',
    '{"a":"\\u0000","a":"b"}',
    '{"a":[{"b":"x\\uDfffy"}]}',
  ])("refuses text that Postgres cannot store: %s", (text) => {
    expect(problemOf(text)?.kind).toBe("text");
  });

  it.each(['{"a":"\\ud83d\\ude00 \\\\u0000 \\u00e4"}', '{"a":"😀"}'])(
    "accepts escaped and literal pairs, and escaped backslashes: %s",
    (text) => {
      expect(problemOf(text)).toBeNull();
    },
  );
});
