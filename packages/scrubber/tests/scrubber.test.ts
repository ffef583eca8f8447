import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { createScrubber } from "../src/index.ts";
import { MASK, scrubberOf } from "./scrubber-of.ts";

/** Escapes every character that is not ASCII, as encoders do that only write ASCII. */
function asciiJson(value: string, digits: "lower" | "upper"): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(/[^ -~]/g, (unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
      return `\\u${digits === "lower" ? hex : hex.toUpperCase()}`;
    });
}

const percent = encodeURIComponent;
const strictPercent = (value: string): string =>
  percent(value).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const lowerHex = (value: string): string =>
  value.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
const form = (value: string): string => new URLSearchParams({ v: value }).toString().slice(2);
const json = (value: string): string => JSON.stringify(value).slice(1, -1);
const html = (value: string): string =>
  value.replaceAll(/[&<>"'/]/g, (char) => {
    const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
    return names[char] === undefined ? `&#${char.charCodeAt(0)};` : `&${names[char]};`;
  });
const htmlHex = (value: string): string =>
  value.replaceAll(/[&<>"'/]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`);
const base64 = (value: string): string => Buffer.from(value).toString("base64");
const base64url = (value: string): string => Buffer.from(value).toString("base64url");
const utf16Base64 = (value: string): string => Buffer.from(value, "utf16le").toString("base64");
const hex = (value: string): string => Buffer.from(value).toString("hex");
const wrapped = (value: string): string => base64(value).replaceAll(/(.{76})/g, "$1\r\n");

/** Encodings that turn each character into a text of its own, wherever it stands. */
const ENCODINGS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  percent,
  strictPercent,
  lowerPercent: (value) => lowerHex(percent(value)),
  lowerStrictPercent: (value) => lowerHex(strictPercent(value)),
  uri: encodeURI,
  form,
  lowerForm: (value) => lowerHex(form(value)),
  json,
  jsonTwice: (value) => json(json(value)),
  jsonWithSlashes: (value) => json(value).replaceAll("/", "\\/"),
  jsonWithSlashNumbers: (value) => json(value).replaceAll("/", "\\u002f"),
  jsonForHtml: (value) =>
    json(value).replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  asciiJson: (value) => asciiJson(value, "lower"),
  upperAsciiJson: (value) => asciiJson(value, "upper"),
  asciiJsonTwice: (value) => json(asciiJson(value, "lower")),
  jsonInPercent: (value) => percent(json(value)),
  jsonInForm: (value) => form(json(value)),
  html,
  htmlHex,
  htmlInJson: (value) => json(html(value)),
  jsonInHtml: (value) => html(json(value)),
  hex,
  upperHex: (value) => hex(value).toUpperCase(),
  crLf: (value) => value.replaceAll(/\r\n?|\n/g, "\r\n"),
  percentTwice: (value) => percent(percent(value)),
  lowerPercentTwice: (value) => lowerHex(percent(percent(value))),
  everythingPercent: (value) => hex(value).replaceAll(/../g, "%$&"),
  base64OfUtf16: (value) => Buffer.from(value, "utf16le").toString("base64"),
  base64OfUtf16BigEndian: (value) => Buffer.from(value, "utf16le").swap16().toString("base64"),
};

const BASE64_TWICE: Readonly<Record<string, (value: string) => string>> = {
  "base64 of base64": (value) => base64(base64(value)),
  "base64 of base64url": (value) => base64(base64url(value)),
  "base64url of base64": (value) => base64url(base64(value)),
};

/** The bytes of UTF-16 as text, without the last one. */
const utf16 = (value: string): string => Array.from(value).join("\0");

const UTF16_ENCODINGS: Readonly<Record<string, (value: string) => string>> = {
  plain: utf16,
  "escapes of JSON": (value) => json(utf16(value)),
  percent: (value) => percent(utf16(value)),
  hexadecimal: (value) => hex(utf16(value)),
};

const PEM = [
  "-----BEGIN PRIVATE KEY-----",
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgR0y+t+aiB+L4KD2f",
  "fKxDU5PBeM5B+8Yor3SunsKTFz2hRANCAAQnR43i7Y+YWR9jkEoPOnPML3SErxR/",
  "-----END PRIVATE KEY-----",
  "",
].join("\n");

const SECRETS = {
  "a token": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
  "a base64 key": "q83vEjRWeJC+/3/+AAEC/w==",
  "a password of signs": `p@$$ "w/ö\\rd" +1%&<'>`,
  "a connection string": "postgres://user:p%40ss@db.example:5432/shop?sslmode=require&x=1",
  "words in Cyrillic": "пароль от почты",
  "signs only": "!@#$%^&*()+=/\\",
  "emoji only": "🔑🎉🚀🍪",
  "a key in PEM": PEM,
  "something that looks escaped": "a%41b\\n&amp;+c",
  "four characters": "k3y!",
  "a percent sign at the end": "letters 100%",
  "an ampersand at the end": "letters&",
  "a quote behind letters": 'abcdef"ghi\\j',
};

describe("a secret", () => {
  const cases = Object.entries(SECRETS).flatMap(([name, secret]) =>
    Object.keys(ENCODINGS).map((encoding) => [name, encoding, secret] as const),
  );
  it.each(cases)("is masked: %s as %s", (_, encoding, secret) => {
    const encoded = ENCODINGS[encoding]?.(secret) ?? "";
    const scrubber = scrubberOf(secret);
    expect(scrubber.text(`before ${encoded} after`)).toBe(`before ${MASK} after`);
    expect(scrubber.text(encoded)).toBe(MASK);
  });

  it.each(Object.entries(SECRETS))(
    "is masked in base64 at any offset, with every character that has a bit of it: %s",
    (_, secret) => {
      const scrubber = scrubberOf(secret);
      for (const before of ["", "u", "us", "user:", "x".repeat(70), "y".repeat(71)]) {
        for (const after of ["", "&", "&t", "&to", "&token=1"]) {
          const parts = [before, secret, after] as const;
          const text = parts.join("");
          const left = maskedBase64(base64(text), ...parts);
          expect(scrubber.text(`[${base64(text)}]`)).toBe(`[${left}]`);
          expect(scrubber.text(base64url(text))).toBe(maskedBase64(base64url(text), ...parts));
          expect(scrubber.text(wrapped(text)).replaceAll("\r\n", "")).toBe(left);
          expect(scrubber.text(json(wrapped(text))).replaceAll("\\r\\n", "")).toBe(left);
          expect(decodeURIComponent(scrubber.text(percent(base64(text))))).toBe(left);
          const escaped = json(base64(text)).replaceAll("/", "\\/");
          expect(scrubber.text(escaped).replaceAll("\\/", "/")).toBe(left);
        }
      }
    },
  );

  it("is masked in base64 of JSON that holds it", () => {
    const secret = 'a "quoted" secret\nof two lines';
    const encoded = base64(JSON.stringify({ token: secret }));
    expect(scrubberOf(secret).text(encoded)).toMatch(/^[\w+/]{1,16}••••[\w+/=]{0,4}$/);
  });

  it("is masked where a line break of two characters makes it shorter", () => {
    const scrubber = scrubberOf("0\r\n%");
    for (const encode of [percent, ...["jsonInForm", "form"].map((name) => ENCODINGS[name])]) {
      expect(scrubber.text(`${encode?.("0\r\n%")} and more`)).toBe(`${MASK} and more`);
    }
  });

  it("leaves nothing, whatever it is, whatever is around it and however it is encoded", () => {
    const char = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      fc.constantFrom(...Array.from("%+&;\\\"'/<> \r\n\tnu0aA=-_#x.")),
    );
    const text = (min: number, max: number) =>
      fc
        .array(char, { minLength: min, maxLength: max })
        .map((chars) => chars.join("").replaceAll("\0", "0"))
        .filter((value) => value.isWellFormed());
    const secretText = text(4, 24).filter((value) => Array.from(value.trim()).length >= 4);
    const anySecret = fc.oneof(
      secretText,
      fc.tuple(secretText, secretText).map(([first, second]) => `${first}abcd${second}`),
    );
    const encodingName = fc.constantFrom(...Object.keys(ENCODINGS), "base64", "base64url");
    fc.assert(
      fc.property(
        anySecret,
        encodingName,
        text(0, 6),
        text(0, 6),
        (secret, name, before, after) => {
          const scrubber = scrubberOf(secret);
          if (name === "base64" || name === "base64url") {
            const encode = name === "base64" ? base64 : base64url;
            const clean = scrubber.text(encode(before + secret + after));
            expect(clean).toContain(MASK);
            return;
          }
          const encoded = ENCODINGS[name]?.(secret) ?? "";
          const clean = scrubber.text(before + encoded + after);
          expect(clean).toContain(MASK);
          expect(clean.includes(encoded)).toBe(false);
          expect(scrubber.text(clean)).toBe(clean);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("is masked at each of its places", () => {
    const secret = SECRETS["a token"];
    const text = `${secret}${secret},${secret}`;
    expect(scrubberOf(secret).text(`${secret}, ${secret} and ${text}`)).toBe(
      `${MASK}, ${MASK} and ${MASK}${MASK},${MASK}`,
    );
  });

  it("is masked without the white space around it, too", () => {
    expect(scrubberOf("  t0ken-1234\n").text("Bearer t0ken-1234.")).toBe(`Bearer ${MASK}.`);
    expect(scrubberOf(PEM.replaceAll("\n", "\r\n")).text(`[${PEM.trim()}]`)).toBe(`[${MASK}]`);
  });

  it.each(Object.keys(BASE64_TWICE))(
    "in %s at any offset leaves no more than bits of a character at its ends",
    (encoding) => {
      for (const secret of Object.values(SECRETS)) {
        const scrubber = scrubberOf(secret);
        for (const before of ["", "u", "us", "user:", "x".repeat(70)]) {
          const encode = (value: string): string => BASE64_TWICE[encoding]?.(value) ?? "";
          const encoded = encode(`${before}${secret}&t`);
          const [ahead = "", behind, ...more] = scrubber.text(encoded).split(MASK);
          expect(more).toEqual([]);
          // What is around the secret stays, and besides it the two characters that share bits with it.
          expect(encoded.startsWith(ahead)).toBe(true);
          expect(ahead.length).toBeLessThanOrEqual(encode(before).length);
          expect(behind?.length).toBeLessThanOrEqual(10);
        }
      }
    },
  );

  it("is masked with whatever line breaks it was stored, in base64 of any kind too", () => {
    const encodings = [...Object.values(BASE64_TWICE), base64, base64url, utf16Base64, json, hex];
    for (const stored of [PEM.replaceAll("\n", "\r\n"), "\r#\n%\r\n+b", "a\rb\rc\n\rd"]) {
      const scrubber = scrubberOf(stored);
      for (const encode of encodings) {
        const rest = scrubber.text(`~${encode(stored)}~`).replace(MASK, "");
        expect(rest).toMatch(/^~[\w+/=-]{0,4}~$/);
      }
    }
  });

  it.each(Object.keys(UTF16_ENCODINGS))("in ASCII is masked in UTF-16 as %s", (encoding) => {
    for (const secret of ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "k3y!", `p@$$ "w/\\rd" +1%&<'>`]) {
      const encoded = UTF16_ENCODINGS[encoding]?.(secret) ?? "";
      const scrubbed = scrubberOf(secret).text(`before ${encoded}\0 after`);
      expect(scrubbed.replace("\0", "")).toBe(`before ${MASK} after`);
    }
  });

  it("of eight characters and more is masked in upper and in lower case, escaped too", () => {
    const scrubber = scrubberOf("Sk_Live/4eC39");
    for (const encode of [(value: string) => value, percent, json, hex, percent]) {
      expect(scrubber.text(`a ${encode("sk_live/4ec39")} z`)).toBe(`a ${MASK} z`);
      expect(scrubber.text(`a ${encode("SK_LIVE/4EC39")} z`)).toBe(`a ${MASK} z`);
    }
    expect(scrubberOf("Secret1").text("secret1 SECRET1")).toBe("secret1 SECRET1");
  });

  it("is not looked for by its letters in mixed case, nor in another normal form", () => {
    const scrubber = scrubberOf("Caf\u00e9-Secret");
    expect(scrubber.text("caf\u00e9-Secret Cafe\u0301-Secret")).toBe(
      "caf\u00e9-Secret Cafe\u0301-Secret",
    );
    expect(scrubber.text("Caf\u00e9-Secret")).toBe(MASK);
  });

  it("of less than four characters is masked only where it is all there is", () => {
    const scrubber = scrubberOf("abc", "7", "🔑🔑");
    expect(scrubber.text("abc")).toBe(MASK);
    expect(scrubber.text("abcd and abc")).toBe("abcd and abc");
    expect(scrubber.json({ abc: ["abc", 7, 77, "7", "x7", "🔑🔑"], b: "🔑🔑🔑" })).toEqual({
      [MASK]: [MASK, MASK, 77, MASK, "x7", MASK],
      b: "🔑🔑🔑",
    });
    expect(scrubber.jsonText('{"a":"abc","b":7}')).toBe(`{"a":"${MASK}","b":"${MASK}"}`);
  });
});

describe("several secrets", () => {
  it("that overlap leave no part of either", () => {
    expect(scrubberOf("abcdefgh", "efghijkl").text("<abcdefghijkl>")).toBe(`<${MASK}>`);
  });

  it("that contain each other are masked as the longer one, in any order", () => {
    for (const secrets of [
      ["token", "token-extended"],
      ["token-extended", "token"],
    ]) {
      const scrubber = scrubberOf(...secrets);
      expect(scrubber.text("token-extended token")).toBe(`${MASK} ${MASK}`);
    }
  });

  it("that nothing is known of are no scrubber at all", () => {
    expect(createScrubber([])).toBeNull();
    expect(createScrubber([""])).toBeNull();
  });

  it("may have characters that mean something to regular expressions", () => {
    const secret = "a.*(b|c)+[d]{2}$^?";
    expect(scrubberOf(secret).text(`x${secret}y and axxbx`)).toBe(`x${MASK}y and axxbx`);
  });
});

/** Base64 of three texts in a row, without the characters that hold a bit of the second one. */
function maskedBase64(encoded: string, before: string, secret: string, after: string): string {
  const bitsBefore = 8 * Buffer.byteLength(before);
  const bitsThrough = bitsBefore + 8 * Buffer.byteLength(secret);
  const right = after === "" ? "" : encoded.slice(Math.ceil(bitsThrough / 6));
  return encoded.slice(0, Math.floor(bitsBefore / 6)) + MASK + right;
}
