import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { signatureHeaders } from "../../services/webhooks/src/outbound/signatures.ts";
import { DRIVERS } from "../support/verify-drivers.ts";
import type { Driver } from "../support/verify-drivers.ts";

/* docs/verify-webhooks.md: its vector is right, and its code says of deliveries what it has to. */

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/verify-webhooks.md"), "utf8");
const SECRET = blockOf("text secret");
const TIMESTAMP = blockOf("text timestamp");
const BODY = blockOf("text body");
const HEADERS = new Map(
  blockOf("text headers")
    .split("\n")
    .map((line): [string, string] => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
);

const LIBRARY = pathToFileURL(createRequire(import.meta.url).resolve("standardwebhooks")).href;

/** The code of the page whose fence says this. */
function blockOf(info: string): string {
  const [, block] = new RegExp(`^\`\`\`${info}\n([^]*?)\n\`\`\`$`, "m").exec(PAGE) ?? [];
  if (block === undefined) throw new Error(`The page has no block of ${info}.`);
  return block;
}

/** Programs of some languages are not on every machine; what is not there is named, not taken for good. */
const FOUND = DRIVERS.filter(({ command, versionArgs }) => {
  const { status } = spawnSync(command, [...versionArgs], { stdio: "ignore" });
  return status === 0;
});
const ABSENT = DRIVERS.filter((driver) => !FOUND.includes(driver)).map(({ language }) => language);

interface Case {
  is: string;
  secret: string;
  header: string;
  now: number;
  body: string;
  trusted: boolean;
}

const NOW = Number(TIMESTAMP);
const HEADER = HEADERS.get("X-Webhook-Signature") ?? "";
const [, V1 = ""] = HEADER.split(",");
const GOOD: Case = {
  is: "the vector",
  secret: SECRET,
  header: HEADER,
  now: NOW,
  body: BODY,
  trusted: true,
};
const OTHER_V1 = `v1=${"0123456789abcdef".repeat(4)}`;
const CASES: readonly Case[] = [
  GOOD,
  { ...GOOD, is: "300 s old", now: NOW + 300 },
  { ...GOOD, is: "300 s early", now: NOW - 300 },
  { ...GOOD, is: "signed with the old secret as well", header: `${HEADER},${OTHER_V1}` },
  {
    ...GOOD,
    is: "signed with a new secret as well",
    header: `t=${TIMESTAMP},${OTHER_V1},${V1}`,
  },
  ...[
    { is: "301 s old", now: NOW + 301 },
    { is: "301 s early", now: NOW - 301 },
    { is: "another body", body: BODY.replace("279", "280") },
    { is: "a body written again", body: JSON.stringify(JSON.parse(BODY), null, 1) },
    { is: "no body", body: "" },
    { is: "another secret", secret: `${SECRET.slice(0, -2)}g=` },
    { is: "another time", header: HEADER.replace(TIMESTAMP, String(NOW + 1)) },
    { is: "no header", header: "" },
    { is: "no time", header: V1 },
    { is: "no signature", header: `t=${TIMESTAMP}` },
    { is: "an empty signature", header: `t=${TIMESTAMP},v1=` },
    { is: "half a signature", header: HEADER.slice(0, -32) },
    { is: "another signature", header: `t=${TIMESTAMP},${OTHER_V1}` },
    { is: "another scheme", header: HEADER.replace("v1=", "v0=") },
    { is: "a time that is none", header: HEADER.replace(TIMESTAMP, "soon") },
    { is: "a time without end", header: HEADER.replace(TIMESTAMP, "9".repeat(400)) },
  ].map((change) => ({ ...GOOD, ...change, trusted: false })),
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "verify-webhooks-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the vector of the page", () => {
  it("is what the service sends", () => {
    const message = { eventId: HEADERS.get("webhook-id") ?? "", body: Buffer.from(BODY) };
    const secrets = { secret: SECRET, oldSecret: null };
    const sent = signatureHeaders(secrets, message, new Date(NOW * 1_000));
    expect(Object.fromEntries(HEADERS)).toEqual(sent);
  });

  it("is what Standard Webhooks makes of it", () => {
    const id = HEADERS.get("webhook-id") ?? "";
    expect(JSON.parse(BODY)).toMatchObject({ id });
    expect(HEADERS.get("X-Webhook-ID")).toBe(id);
    expect(HEADERS.get("X-Webhook-Timestamp")).toBe(TIMESTAMP);
    expect(HEADERS.get("webhook-timestamp")).toBe(TIMESTAMP);
    const signed = new Webhook(SECRET).sign(id, new Date(NOW * 1_000), BODY);
    expect(HEADERS.get("webhook-signature")).toBe(signed);
  });

  it("is nothing without its time to the library, which reads what is signed now", async () => {
    const id = HEADERS.get("webhook-id") ?? "";
    const now = new Date();
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": new Webhook(SECRET).sign(id, now, BODY),
    };
    const program = [
      blockOf("js library").replace('"standardwebhooks"', JSON.stringify(LIBRARY)),
      `console.log(readDelivery(...${JSON.stringify([BODY, headers, SECRET])}).id);`,
      `readDelivery(...${JSON.stringify([BODY, Object.fromEntries(HEADERS), SECRET])});`,
    ];
    const file = join(folder, "library.mjs");
    await writeFile(file, program.join("\n"));
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 1, stdout: `${id}\n` });
    expect(stderr).toContain("Message timestamp too old");
  });
});

const notRun = ABSENT.length === 0 ? "" : ` (no program here for ${ABSENT.join(", ")})`;

describe(`the code of the page${notRun}`, () => {
  it("is there in every language, and JavaScript can be run", () => {
    for (const { language } of DRIVERS) expect(blockOf(`${language} verify`)).not.toBe("");
    expect(FOUND.map(({ language }) => language)).toContain("js");
  });

  it.each(FOUND.map((driver) => [driver.language, driver] as const))(
    "trusts what is ours and nothing else, in %s",
    async (_, driver) => {
      const answers = await judge(driver);
      const told = CASES.map(({ is }, index) => ({ is, trusted: answers[index] }));
      expect(told).toEqual(CASES.map(({ is, trusted }) => ({ is, trusted: String(trusted) })));
    },
  );
});

/** What the code of a language says of each case. */
async function judge({ language, command, args, file, complete }: Driver): Promise<string[]> {
  const path = join(folder, file);
  await writeFile(path, complete(blockOf(`${language} verify`)));
  const program = spawn(command, [...args, path], { cwd: folder });
  const lines = CASES.map(({ secret, header, now, body }) =>
    [secret, header, now, Buffer.from(body).toString("base64")].join("\t"),
  );
  program.stdin.end(`${lines.join("\n")}\n`);
  let output = "";
  program.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  program.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(program, "close");
  return output.trimEnd().split("\n");
}
