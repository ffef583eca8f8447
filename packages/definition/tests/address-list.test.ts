import { describe, expect, it } from "@jest/globals";
import { hasControls, splitAddresses } from "@workflow/definition";

describe("a list of addresses is split at its commas", () => {
  it.each<[string, string[]]>([
    ["a@b.c", ["a@b.c"]],
    ["a@b.c,d@e.f", ["a@b.c", "d@e.f"]],
    ["  a@b.c ,  Ada <d@e.f> ", ["a@b.c", "Ada <d@e.f>"]],
    ['"Doe, Jane" <a@b.c>, d@e.f', ['"Doe, Jane" <a@b.c>', "d@e.f"]],
    ['"Jane \\"J, D\\" Doe" <a@b.c>,d@e.f', ['"Jane \\"J, D\\" Doe" <a@b.c>', "d@e.f"]],
    ['"ends with \\\\" <a@b.c>,d@e.f', ['"ends with \\\\" <a@b.c>', "d@e.f"]],
    ["Jane <a@b.c,d@e.f>", ["Jane <a@b.c,d@e.f>"]],
    ["a@b.c,,d@e.f, ", ["a@b.c", "d@e.f"]],
    ["", []],
    [" , ,", []],
    ["a@b.c\n,d@e.f", ["a@b.c\n", "d@e.f"]],
    ["{{a,b}},c@d.e", ["{{a", "b}}", "c@d.e"]],
  ])("%j", (text, entries) => {
    expect(splitAddresses(text)).toEqual(entries);
  });

  it.each(['"Doe, Jane <a@b.c>', "Jane <a@b.c, d@e.f", '"', "<", 'a@b.c, "x\\"'])(
    "and means nothing when something is not closed: %j",
    (text) => {
      expect(splitAddresses(text)).toBeNull();
    },
  );

  it.each<[string, string[]]>([
    ['{{steps["a,b"].output}}, x@y.z', ['{{steps["a,b"].output}}', "x@y.z"]],
    [
      "{{input.name}} <{{input.mail}}>,{{input.list}}",
      ["{{input.name}} <{{input.mail}}>", "{{input.list}}"],
    ],
    ["a@b.c, {{input.never.closed", ["a@b.c", "{{input.never.closed"]],
  ])("with templates taken whole: %j", (text, entries) => {
    expect(splitAddresses(text, { templates: true })).toEqual(entries);
  });

  it("in linear time, whatever the text is", () => {
    for (const part of ['"', "\\", "<", "{{", ",", " "]) {
      splitAddresses(part.repeat(1_000_000), { templates: true });
    }
  });
});

it.each(["a\rb", "a\nb", "a\0b", "a\tb", "a\u0085b"])("%j has control characters", (text) => {
  expect(hasControls(text)).toBe(true);
});
