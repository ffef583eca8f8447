import { gzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import { createFinder, newCore, RUN } from "./finder.ts";

const core = newCore();
const VALUE = `cnry/"${core}"+é&<\\`;
const find = createFinder([
  { name: "it", core },
  { name: "another", core: newCore() },
]);

const base64 = (text: string) => Buffer.from(text).toString("base64");
const escapeAll = (text: string, escape: (code: string) => string) =>
  [...Buffer.from(text)].map((byte) => escape(byte.toString(16).padStart(2, "0"))).join("");

/** What encoders make of a value. */
const FORMS: Readonly<Record<string, string | Buffer>> = {
  "as it is": VALUE,
  "in capitals": VALUE.toUpperCase(),
  percent: encodeURIComponent(VALUE),
  "percent, every byte": escapeAll(VALUE, (code) => `%${code}`),
  "percent twice, every byte": escapeAll(VALUE, (code) => `%25${code}`),
  form: new URLSearchParams([["", VALUE]]).toString(),
  JSON: JSON.stringify(VALUE),
  "JSON of JSON of JSON": JSON.stringify(JSON.stringify(JSON.stringify({ a: VALUE }))),
  "JSON, every character": escapeAll(VALUE, (code) => `\\u00${code}`),
  "JSON of it": JSON.stringify(escapeAll(VALUE, (code) => `\\u00${code}`)),
  "HTML, every character": escapeAll(VALUE, (code) => `&#x${code};`),
  "quoted-printable, every byte": escapeAll(VALUE, (code) => `=${code.toUpperCase()}`),
  hex: Buffer.from(VALUE).toString("hex"),
  "hex in capitals": Buffer.from(VALUE).toString("hex").toUpperCase(),
  "hex of base64": Buffer.from(base64(VALUE)).toString("hex"),
  "base64 at offset 0": base64(VALUE),
  "base64 at offset 1": base64(`.${VALUE}`),
  "base64 at offset 2": base64(`..${VALUE}`),
  base64url: Buffer.from(VALUE).toString("base64url"),
  "base64 of base64": base64(base64(`.${VALUE}`)),
  "base64, wrapped": base64(VALUE).replaceAll(/.{7}/g, "$&\r\n"),
  "base64, wrapped, in JSON": JSON.stringify(base64(VALUE).replaceAll(/.{7}/g, "$&\n")),
  "base64 of JSON": base64(JSON.stringify({ a: VALUE })),
  "UTF-16": Buffer.from(VALUE, "utf16le"),
  "UTF-16 in base64": Buffer.from(VALUE, "utf16le").toString("base64"),
  "UTF-16 in hex": Buffer.from(VALUE, "utf16le").swap16().toString("hex"),
};

describe("what looks for canaries", () => {
  it.each(Object.entries(FORMS))("finds one: %s", (_, form) => {
    const among = Buffer.concat([Buffer.alloc(5_000, "n"), Buffer.from(form), Buffer.alloc(99)]);
    expect([...find(among).keys()]).toEqual(["it"]);
  });

  it("finds any piece that was cut out of one", () => {
    // The digits of base64 at the ends of a piece are not all its own.
    const length = RUN + 4;
    for (let at = 0; at + length <= core.length; at += 1) {
      const piece = core.slice(at, at + length);
      for (const form of [piece, Buffer.from(piece).toString("hex"), base64(`-${piece}`)]) {
        expect([...find(Buffer.from(`- ${form} -`)).keys()]).toEqual(["it"]);
      }
    }
    expect([...find(Buffer.from(core.slice(3, 3 + RUN))).keys()]).toEqual(["it"]);
  });

  it("finds nothing where nothing is", () => {
    const letters = Buffer.from(Array.from({ length: 5_000 }, newCore).join(" "));
    for (const content of [letters, gzipSync(letters), Buffer.from(core.slice(0, RUN - 1))]) {
      expect([...find(content).keys()]).toEqual([]);
    }
  });

  it("refuses a value that chance could make", () => {
    expect(() => createFinder([{ name: "short", core: "0123456789" }])).toThrow("short");
  });
});
