import { expect, it } from "@jest/globals";
import { hashText, scoreOf } from "../src/index.ts";

/*
 * Processes of two versions run side by side during an upgrade. Where they reckon differently, two of them answer for
 * one rate limit.
 */

it("the hash of a text is the one of earlier versions", () => {
  const texts = ["", "10.0.0.1:9001", "company:0197f2a0", "é 👩"];
  expect(texts.map(hashText)).toEqual([2_166_136_261, 2_515_813_039, 3_448_674_860, 1_045_054_046]);
});

it("the score of a process for a key is the one of earlier versions", () => {
  const pairs = [
    ["10.0.0.1:9001", "company:a"],
    ["10.0.0.2:9001", "company:a"],
    ["10.0.0.1:9001", "company:b"],
    ["", ""],
  ] as const;
  const scores = pairs.map(([address, key]) => scoreOf(hashText(address), hashText(key)));
  expect(scores).toEqual([2_613_896_837, 1_230_512_996, 3_169_125_482, 0]);
});
