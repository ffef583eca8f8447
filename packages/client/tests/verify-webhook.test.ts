import { createHmac, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { verifyWebhook, WebhookVerificationError } from "@workflow/client";
import type { WebhookHeaders } from "@workflow/client";
import { fc } from "@workflow/testkit/property-test";
import { Webhook } from "standardwebhooks";

const NOW_SECONDS = 1_767_225_600;
const now = (): number => NOW_SECONDS * 1_000;
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const OLD_SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const BODY = '{"id":"evt_1","type":"workflow.completed","output":{"total":279}}';

describe("a delivery is trusted", () => {
  test.each(["X-Webhook-Signature", "webhook-signature"])("as documented, by %s", async (used) => {
    const { body, secret, headers } = await documentedVector();
    const without = used === "webhook-signature" ? "X-Webhook-Signature" : "webhook-signature";
    delete headers[without];
    const payload = await verifyWebhook(body, headers, secret, { now });
    expect(payload).toEqual(JSON.parse(body));
  });

  test("when the library of Standard Webhooks has signed it", async () => {
    const headers = standardHeaders(SECRET);
    await expect(verifyWebhook(BODY, headers, SECRET, { now })).resolves.toMatchObject({
      type: "workflow.completed",
    });
    await expect(verifyWebhook(BODY, new Headers(headers), SECRET, { now })).resolves.toBeDefined();
  });

  test("as bytes as well", async () => {
    const bytes = new TextEncoder().encode(BODY);
    await expect(
      verifyWebhook(bytes, ownHeaders([SECRET]), SECRET, { now }),
    ).resolves.toBeDefined();
  });

  test("while a secret is changed, with either, by receivers with either", async () => {
    const headers = ownHeaders([SECRET, OLD_SECRET]);
    for (const secrets of [SECRET, OLD_SECRET, ["whsec_other", OLD_SECRET]]) {
      await expect(verifyWebhook(BODY, headers, secrets, { now })).resolves.toBeDefined();
    }
  });

  test("as long as the receiver says", async () => {
    const later = { now: () => now() + 900_000 };
    const verifying = verifyWebhook(BODY, ownHeaders([SECRET]), SECRET, later);
    await expect(verifying).rejects.toMatchObject({ reason: "time" });
    await verifyWebhook(BODY, ownHeaders([SECRET]), SECRET, { ...later, toleranceSeconds: 901 });
  });
});

describe("a delivery is refused", () => {
  const good = ownHeaders([SECRET])["X-Webhook-Signature"] ?? "";
  const cases: [string, string, WebhookHeaders, string][] = [
    ["without a signature", "missing", {}, BODY],
    ["with another body", "signature", { "x-webhook-signature": good }, `${BODY} `],
    ["signed with another secret", "signature", ownHeaders([OLD_SECRET]), BODY],
    ["whose header is no signature", "malformed", { "x-webhook-signature": "no" }, BODY],
    ["without a time", "malformed", { "x-webhook-signature": good.replace(/^t=\d+,/, "") }, BODY],
    ["with two times", "malformed", { "x-webhook-signature": `t=1,${good}` }, BODY],
    ["with two signatures' headers", "malformed", { "x-webhook-signature": [good, good] }, BODY],
    ["with a time that is none", "malformed", { "x-webhook-signature": "t=1e9,v1=00" }, BODY],
    [
      "with an unknown scheme",
      "malformed",
      { "x-webhook-signature": `t=${NOW_SECONDS},v0=ff` },
      BODY,
    ],
    [
      "with a short signature",
      "signature",
      { "x-webhook-signature": `t=${NOW_SECONDS},v1=ff` },
      BODY,
    ],
    ["signed well, of no JSON", "body", ownHeaders([SECRET], "hello"), "hello"],
    ["signed well, of no event", "body", ownHeaders([SECRET], "[1]"), "[1]"],
    ["whose id is another", "signature", { ...standardHeaders(SECRET), "webhook-id": "x" }, BODY],
  ];

  test.each(cases)("%s: %s", async (_, reason, headers, body) => {
    const verifying = verifyWebhook(body, headers, SECRET, { now });
    await expect(verifying).rejects.toMatchObject({ name: "WebhookVerificationError", reason });
  });

  test("more than 300 seconds late or early", async () => {
    for (const seconds of [-301, 301]) {
      const verifying = verifyWebhook(BODY, ownHeaders([SECRET]), SECRET, {
        now: () => now() + seconds * 1_000,
      });
      await expect(verifying).rejects.toMatchObject({ reason: "time" });
    }
    for (const seconds of [-300, 300]) {
      await verifyWebhook(BODY, ownHeaders([SECRET]), SECRET, {
        now: () => now() + seconds * 1_000,
      });
    }
  });

  test("with any header that somebody makes up, by nothing but our error", async () => {
    const values = [fc.string({ unit: "binary" }), fc.string(), fc.boolean()] as const;
    const property = fc.asyncProperty(...values, async (signature, id, isStandard) => {
      const standard = {
        "webhook-id": id,
        "webhook-timestamp": String(NOW_SECONDS),
        "webhook-signature": `v1,${signature}`,
      };
      const own = { "x-webhook-signature": `t=${NOW_SECONDS},v1=${signature}` };
      const verifying = verifyWebhook(BODY, isStandard ? standard : own, SECRET, { now });
      await expect(verifying).rejects.toBeInstanceOf(WebhookVerificationError);
    });
    await fc.assert(property);
  });

  test("and the refusal shows no secret", async () => {
    const error: unknown = await verifyWebhook("[1]", ownHeaders([SECRET]), SECRET, { now }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).not.toContain(SECRET.slice(6, 20));
  });
});

describe.each([
  ["headers of ours", ownHeaders([SECRET])],
  ["headers of Standard Webhooks", standardHeaders(SECRET)],
  ["no headers", {}],
])("a receiver that gets %s", (_, headers) => {
  const notSecrets: [string, unknown][] = [
    ["an empty text", ""],
    ["nothing behind whsec_", "whsec_"],
    ["undefined", undefined],
    ["an empty list", []],
    ["an empty text beside a secret", ["", SECRET]],
    ["undefined beside a secret", [SECRET, undefined]],
    ["nothing behind whsec_ beside a secret", [SECRET, "whsec_"]],
    ["an object", { secret: SECRET }],
  ];
  test.each(notSecrets)("and has %s for a secret is told", async (__, secrets) => {
    // As JavaScript calls it, where nobody looks at types.
    const given = [BODY, headers, secrets, { now }];
    const verifying: unknown = Reflect.apply(verifyWebhook, null, given);
    await expect(verifying).rejects.toThrow(
      new TypeError("A secret is needed, and each must be a text that is not empty."),
    );
  });

  const notBodies: [string, unknown][] = [
    ["parsed", JSON.parse(BODY)],
    ["an ArrayBuffer", new TextEncoder().encode(BODY).buffer],
    ["a view of other numbers", new Uint16Array(8)],
    ["missing", undefined],
  ];
  test.each(notBodies)("and whose body is %s is told", async (__, body) => {
    const verifying: unknown = Reflect.apply(verifyWebhook, null, [body, headers, SECRET, { now }]);
    await expect(verifying).rejects.toThrow(
      new TypeError("The body must be what came: a string or a Uint8Array, and not parsed."),
    );
  });
});

test.each(["my own secret!", "whsec_=", " "])(
  "a forged signature of Standard Webhooks is refused where the secret is %j, no base64",
  async (secret) => {
    const verifying = verifyWebhook(BODY, standardHeaders(SECRET), secret, { now });
    await expect(verifying).rejects.toMatchObject({ reason: "signature" });
    await expect(verifyWebhook(BODY, ownHeaders([secret]), secret, { now })).resolves.toBeDefined();
  },
);

/** As the service signs (D48). */
function ownHeaders(secrets: readonly string[], body = BODY): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const digest = createHmac("sha256", secret).update(`${NOW_SECONDS}.${body}`).digest("hex");
    return `v1=${digest}`;
  });
  return { "X-Webhook-Signature": [`t=${NOW_SECONDS}`, ...signatures].join(",") };
}

function standardHeaders(secret: string): Record<string, string> {
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(NOW_SECONDS),
    "webhook-signature": new Webhook(secret).sign("evt_1", new Date(now()), BODY),
  };
}

/** The vector that the documentation gives to all receivers. */
async function documentedVector() {
  const page = new URL("../../../docs/verify-webhooks.md", import.meta.url);
  const text = await readFile(fileURLToPath(page), "utf8");
  const block = (name: string): string => {
    const found = new RegExp(`\`\`\`text ${name}\\n([\\s\\S]*?)\\n\`\`\``).exec(text)?.[1];
    if (found === undefined) throw new Error(`The page has no block ${name}.`);
    return found;
  };
  const headers: Record<string, string> = Object.fromEntries(
    block("headers")
      .split("\n")
      .map((line) => line.split(": ")),
  );
  return { body: block("body"), secret: block("secret"), headers };
}
