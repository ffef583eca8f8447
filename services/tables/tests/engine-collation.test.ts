import { describe, expect, it } from "@jest/globals";
import { columnOf, sorted } from "./support/engine-queries.ts";

const collator = new Intl.Collator("en", { sensitivity: "accent" });

/** The contract's order, straight from the collator. */
function inCollatorsOrder(texts: readonly string[]): string[] {
  return texts.toSorted((a, b) => collator.compare(a, b) || (a < b ? -1 : Number(a > b)));
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const SCRIPTS: Readonly<Record<string, string>> = {
  "ASCII letters": "abAB",
  "punctuation and digits": "a-b_c '.10,;!?@#$%^&*(){}[]<>~`|\\/+=\"\t\n",
  "accents in one character": "aäàeéEÉoøOØsßSŠ",
  "accents as marks": "ae\u0301\u0308\u0327A",
  "letters that weigh as two": "aeæÆoœŒijĳsßtŉn",
  "control and format characters": "a\u0001b\u00ad\u200d\u200bc\u2060",
  Greek: "ΑαάΣσςΩω\u0345",
  "Cyrillic with marks": "иИйе\u0306\u0308к",
  "the dots of Catalan": "l·L\u0387la",
  Chinese: "漢字一丁七万東京\u3400",
  Japanese: "かが\u3099カガーゝっッa",
  Korean: "가각나\u1100\u1161\u11a8",
  Thai: "กเแขใ\u0e01\u0e48a",
  Hindi: "कख\u093f\u094da",
  Arabic: "ابةا\u064bلا",
  "emoji and halves of them": "😀😃a\ud83d\ude00\u{1f468}\u200d\u{1f469}",
  ligatures: "ﬁfiﬀfﬃ½1⁄2…",
};

describe("the order of texts", () => {
  const names = Object.keys(SCRIPTS);
  it.each([...names, "all of them"])("is the collator's for %s", (name) => {
    const random = createRandom(name.length);
    const characters = Array.from(SCRIPTS[name] ?? Object.values(SCRIPTS).join(""));
    const word = (lengthMax: number) =>
      Array.from(
        { length: random(lengthMax + 1) },
        () => characters[random(characters.length)],
      ).join("");
    for (let round = 0; round < 20; round += 1) {
      const beginning = word(20);
      const texts = Array.from({ length: 150 }, () =>
        random(3) === 0 ? `x${word(12)}` : `x${beginning}${word(1 + round)}`,
      );
      expect(sorted(columnOf("text"), texts)).toEqual(inCollatorsOrder(texts));
    }
  });

  it("is the collator's for long texts that differ at their end, or in case only", () => {
    const random = createRandom(9);
    const beginning = "https://www.example.com/a/rather/long/path/";
    const flip = (text: string) =>
      text.replaceAll(/./g, (letter) => (random(2) === 0 ? letter.toUpperCase() : letter));
    const texts = Array.from({ length: 500 }, () =>
      random(2) === 0 ? flip(beginning) : `${beginning.repeat(20)}${random(50)}`,
    );
    expect(sorted(columnOf("text"), texts)).toEqual(inCollatorsOrder(texts));
  });

  it("is the collator's for each character of the basic plane among its neighbours", () => {
    const characters: string[] = [];
    for (let unit = 1; unit < 0xffff; unit += 7) characters.push(`${String.fromCharCode(unit)}b`);
    expect(sorted(columnOf("text"), characters)).toEqual(inCollatorsOrder(characters));
  });
});
