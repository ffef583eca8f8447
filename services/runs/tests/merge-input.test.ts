import { describe, expect, it } from "@jest/globals";
import { mergeInput } from "../src/operations/merge-input.ts";

const merge = (base: string, override: string): string =>
  JSON.stringify(mergeInput(JSON.parse(base), JSON.parse(override)));

describe("an overriding input", () => {
  it.each([
    ['{"a":1,"b":2}', '{"b":3,"c":4}', '{"a":1,"b":3,"c":4}'],
    ['{"a":{"x":1,"y":{"z":1}}}', '{"a":{"y":{"w":2}}}', '{"a":{"x":1,"y":{"z":1,"w":2}}}'],
    ['{"a":[1,2,3]}', '{"a":[9]}', '{"a":[9]}'],
    ['{"a":{"x":1}}', '{"a":null}', '{"a":null}'],
    ['{"a":{"x":1}}', '{"a":[]}', '{"a":[]}'],
    ['{"a":[{"x":1}]}', '{"a":{"0":2}}', '{"a":{"0":2}}'],
    ['{"a":1}', "{}", '{"a":1}'],
    ['{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
    [
      '{"constructor":1}',
      '{"toString":{"prototype":2}}',
      '{"constructor":1,"toString":{"prototype":2}}',
    ],
    [
      '{"hasOwnProperty":{"a":1}}',
      '{"hasOwnProperty":{"b":2}}',
      '{"hasOwnProperty":{"a":1,"b":2}}',
    ],
  ])("%s + %s = %s", (base, override, merged) => {
    expect(merge(base, override)).toBe(merged);
  });

  it("pollutes no prototype", () => {
    mergeInput(JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("merges 64 levels and replaces what lies deeper", () => {
    const nest = (levels: number, leaf: string) =>
      '{"a":'.repeat(levels) + leaf + "}".repeat(levels);
    expect(merge(nest(63, '{"x":1}'), nest(63, '{"y":2}'))).toBe(nest(63, '{"x":1,"y":2}'));
    expect(merge(nest(64, '{"x":1}'), nest(64, '{"y":2}'))).toBe(nest(64, '{"y":2}'));
  });
});
