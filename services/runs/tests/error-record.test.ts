import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { Excerpt, StepError } from "../src/domain/step-error.ts";
import { toErrorRecord } from "../src/interpreter/error-record.ts";
import { createScrubber } from "@workflow/scrubber";

const EXCERPT_CHARS = 500;
const MESSAGE_CHARS = 600;
/** So many characters of a secret in a row would be a part of it. */
const WINDOW = 8;

const percent = encodeURIComponent;
const json = (value: string): string => JSON.stringify(value).slice(1, -1);
const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64");
const utf16 = (value: string): Buffer => Buffer.from(value, "utf16le");

const FORMS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  "upper case": (value) => value.toUpperCase(),
  "lower case": (value) => value.toLowerCase(),
  "escapes of JSON": json,
  "escapes of JSON twice": (value) => json(json(value)),
  percent,
  "percent twice": (value) => percent(percent(value)),
  form: (value) => new URLSearchParams({ v: value }).toString().slice(2),
  hexadecimal: (value) => Buffer.from(value).toString("hex"),
  "upper hexadecimal": (value) => Buffer.from(value).toString("hex").toUpperCase(),
  base64,
  "base64 behind a name": (value) => base64(`ada:${value}`).slice(6),
  base64url: (value) => Buffer.from(value).toString("base64url"),
  "base64 twice": (value) => base64(base64(value)),
  "UTF-16": (value) => Array.from(value).join("\0"),
  "UTF-16 in base64": (value) => base64(utf16(value)),
  "big-endian UTF-16 in base64": (value) => base64(utf16(value).swap16()),
};

/** Long enough that no window of it is there by chance. */
const anySecret = fc.stringMatching(/^[A-Za-z\d/+"\\&% _-]{20,60}$/);
/** Shares no window with a secret: it has no character of one. */
const fillers = fc.constantFrom(".", "·", "~", "\n", "😀");

function expectNoPart(text: string, form: string, where: object): void {
  for (let at = 0; at + WINDOW <= form.length; at += 1) {
    const part = form.slice(at, at + WINDOW);
    if (text.includes(part)) expect({ ...where, part }).toBeNull();
  }
}

function recordOf(secret: string, message: string, whole: unknown) {
  const error = new StepError("HTTP_STATUS", message, {
    messageCharsMax: MESSAGE_CHARS,
    details: { status: 422, body: new Excerpt(whole, EXCERPT_CHARS) },
  });
  return toErrorRecord(error, createScrubber([secret]));
}

describe("what is recorded of an error", () => {
  it.each(Object.keys(FORMS))(
    "has no part of a secret at its cut, in the form %s",
    async (name) => {
      await fc.assert(
        fc.asyncProperty(
          anySecret,
          fillers,
          fc.integer({ min: -80, max: 10 }),
          fc.constantFrom("", "?", "the rest of it"),
          async (secret, filler, offset, after) => {
            const form = FORMS[name]?.(secret) ?? "";
            const before = (chars: number): string =>
              filler.repeat(Math.max(0, Math.floor((chars + offset) / filler.length)));
            const record = await recordOf(
              secret,
              before(MESSAGE_CHARS) + form + after,
              before(EXCERPT_CHARS) + form + after,
            );
            expect(record.message.length).toBeLessThanOrEqual(MESSAGE_CHARS);
            expect(String(record.details?.["body"]).length).toBeLessThanOrEqual(EXCERPT_CHARS);
            expectNoPart(JSON.stringify(record), form, { secret, offset });
            expectNoPart(record.message, form, { secret, offset });
          },
        ),
        { numRuns: 20 },
      );
    },
  );

  it.each(Object.keys(FORMS))(
    "has no part of a secret that somebody else cut: %s",
    async (name) => {
      await fc.assert(
        fc.asyncProperty(anySecret, fillers, fc.nat(), async (secret, filler, cutAt) => {
          const form = FORMS[name]?.(secret) ?? "";
          const cut = form.slice(0, 1 + (cutAt % form.length));
          const { message } = await recordOf(secret, `${filler}${cut}`, "");
          expectNoPart(message, form, { secret, cut });
        }),
        { numRuns: 20 },
      );
    },
  );

  it("is scrubbed as JSON before it is cut as text", async () => {
    const { details } = await recordOf("abc", "", { pin: "abc", ["x".repeat(480)]: "abc" });
    expect(details?.["body"]).toBe(
      `{"pin":"••••","${"x".repeat(480)}":"••••"}`.slice(0, EXCERPT_CHARS),
    );
  });

  it("does not end in half a character", async () => {
    const { details } = await recordOf("secret", "", `${"x".repeat(EXCERPT_CHARS - 1)}😀`);
    expect(details?.["body"]).toBe("x".repeat(EXCERPT_CHARS - 1));
  });

  it("is told within bounds when a text agrees with a secret again and again", async () => {
    const { message } = await recordOf("a".repeat(8_000), "a".repeat(7_000), "");
    expect(message).toBe("••••");
  });
});
