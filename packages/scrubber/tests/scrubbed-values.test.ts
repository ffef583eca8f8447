import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { MASK, scrubberOf } from "./scrubber-of.ts";
import { turnsDuring } from "./turns-during.ts";

describe("a JSON value", () => {
  it("is cleaned in keys, strings, numbers and booleans", () => {
    const scrubber = scrubberOf("s3cret-value", "12345678", "true");
    expect(
      scrubber.json({ "x-s3cret-value": [1, 12345678, true, false, null, "a s3cret-value b"] }),
    ).toEqual({ [`x-${MASK}`]: [1, MASK, MASK, false, null, `a ${MASK} b`] });
  });

  it("is the very same when there is nothing in it", () => {
    const value = { a: [1, "two", { three: null }], b: { c: "d" } };
    expect(scrubberOf("s3cret-value").json(value)).toBe(value);
    const text = '{ "a" : 1.0 }';
    expect(scrubberOf("s3cret-value").jsonText(text)).toBe(text);
  });

  it("shares with its original the parts that have nothing in them", () => {
    const value = { clean: { a: 1 }, dirty: "s3cret-value" };
    const result = scrubberOf("s3cret-value").json(value);
    expect(result).toEqual({ clean: { a: 1 }, dirty: MASK });
    expect(result).toHaveProperty("clean", value.clean);
    expect(value.dirty).toBe("s3cret-value");
  });

  it("keeps entries apart whose keys are masked alike, and those called __proto__", () => {
    const value: unknown = JSON.parse('{"s3cret-1":1,"s3cret-2":2,"__proto__":"s3cret-1"}');
    const result = scrubberOf("s3cret-1", "s3cret-2").json(value);
    expect(JSON.stringify(result)).toBe(`{"${MASK}":1,"${MASK} 2":2,"__proto__":"${MASK}"}`);
  });

  it("is cleaned in slices as it is at once", async () => {
    const scrubber = scrubberOf("a secret", "pin");
    const word = fc.constantFrom("a secret", "pin", "x a secret x", "plain", "");
    const values = fc
      .jsonValue({ maxDepth: 4 })
      .chain((value) =>
        fc.tuple(word, fc.dictionary(word, fc.array(word))).map((more) => [value, more]),
      );
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const clean = await scrubber.jsonInTurns(value);
        expect(clean).toEqual(scrubber.json(value));
        if (clean === value) expect(scrubber.json(value)).toBe(value);
      }),
    );
  });

  it("lets others have their turns while a large one is searched", async () => {
    const scrubber = scrubberOf("a secret");
    const long = `${"x".repeat(2 * 1024 * 1024 - 4)}a secret`;
    for (const [value, clean] of [
      [long, long.replace("a secret", MASK)],
      [Array.from({ length: 200_000 }, () => "a secret"), Array(200_000).fill(MASK)],
    ]) {
      const turns = await turnsDuring(async () => {
        expect(await scrubber.jsonInTurns(value)).toEqual(clean);
      });
      expect(turns).toBeGreaterThanOrEqual(3);
    }
  });

  it("may be nested 128 deep", () => {
    let value: unknown = "s3cret-value";
    for (let depth = 0; depth < 128; depth += 1) value = depth % 2 === 0 ? [value] : { a: value };
    const text = JSON.stringify(scrubberOf("s3cret-value").json(value));
    expect(text).not.toContain("s3cret");
    expect(text).toContain(MASK);
  });

  it("knows a number that lost digits which the secret has", () => {
    const secret = "12345678901234567890";
    const scrubber = scrubberOf(secret);
    const text = JSON.stringify({ n: Number(secret) });
    expect(scrubber.json(JSON.parse(text))).toEqual({ n: MASK });
    expect(scrubber.jsonText(text)).toBe(`{"n":"${MASK}"}`);
  });

  it("stays JSON as text, wherever the secret is", () => {
    const scrubber = scrubberOf("nabla-1", "12345678", 'quo"te\\');
    const value = { a: "\nabla-1", "k-nabla-1": 12345678, c: 'x quo"te\\ y', d: [912345678] };
    const clean: unknown = JSON.parse(scrubber.jsonText(JSON.stringify(value)));
    expect(clean).toEqual({
      a: "\nabla-1",
      [`k-${MASK}`]: MASK,
      c: `x ${MASK} y`,
      d: [912345678],
    });
  });
});

describe("a text whose end was cut off", () => {
  it.each([
    ["within a character of two units", "pass😀word😀z", "pass😀word😀".slice(0, -1)],
    ["within an entity of an ampersand", "&=+<%) :%'&,};", "&#38;=+&#60;%) :%&#39;&#3"],
    ["within an escape of JSON", 'pass"word\\z', 'pass\\"word\\'],
    [
      "behind a line of base64",
      "p4ss-".repeat(20),
      `${Buffer.from("p4ss-".repeat(20)).toString("base64").slice(0, 76)}\r\n`,
    ],
  ])("%s keeps nothing of a secret at its end", (_, secret, cut) => {
    expect(scrubberOf(secret).cutText(`It was ${cut}`, 1_000)).toBe(`It was ${MASK}`);
  });

  it("keeps what only looks like the beginning of an escape", () => {
    const text = "It was password & son";
    expect(scrubberOf("p<ss'word&z").cutText(text, 1_000)).toBe(text);
  });
});

describe("hostile secrets and texts", () => {
  it("that agree again and again end with the text masked as a whole", () => {
    const secret = `${"a".repeat(8_191)}b`;
    expect(scrubberOf(secret).text("a".repeat(2 ** 20))).toBe(MASK);
  });

  it("do not keep other places from being masked", () => {
    const secrets = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(8_192, "xy"));
    const text = `${"xyxyx".repeat(10_000)}${secrets[150] ?? ""}${"y".repeat(10_000)}`;
    const clean = scrubberOf(...secrets).text(text);
    expect(clean).toContain(MASK);
    expect(clean).not.toContain(secrets[150] ?? "");
  });
});
