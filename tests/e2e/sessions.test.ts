import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import { bySession, signIn, tokenIn, trySignIn } from "../support/people.ts";
import { workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Person, WholeSystem } from "../support/whole-system.ts";

const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };
const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const newPerson = (): Promise<Person> => system.createPerson(system.acme, "member");

describe("signing in", () => {
  it("answers who it is and sets a cookie that scripts and other sites cannot use", async () => {
    const { email, password, id } = await newPerson();
    const answer = await trySignIn(system, { email: ` ${email.toUpperCase()} `, password });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.data).toEqual({
      user: { id, email, name: email },
      company: { id: system.acme.id, name: "Acme" },
      role: "member",
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^wfs_session=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    );
    const token = tokenIn(answer) ?? "";
    expect(answer.text).not.toContain(token);
    const again = await system.call("GET", "/auth/session", bySession(system, token));
    expect(again).toMatchObject({ status: 200, data: { user: { id }, role: "member" } });
  });

  it("answers the same to a wrong password, an unknown address and no address at all", async () => {
    const { email } = await newPerson();
    const headers = { "x-request-id": "same" };
    const attempts = [
      { email, password: "wrong password" },
      { email: "nobody@people.example", password: "wrong password" },
      { email: "no address", password: "" },
    ];
    const texts = new Set<string>();
    for (const body of attempts) {
      const answer = await trySignIn(system, body, headers);
      expect(answer).toMatchObject(UNAUTHORIZED);
      expect(answer.headers.get("set-cookie")).toBeNull();
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
  });

  it.each([
    ["nothing", {}, ["email", "password"]],
    ["a number as password", { email: "a@b.example", password: 1 }, ["password"]],
    ["an endless password", { email: "a@b.example", password: "x".repeat(1_025) }, ["password"]],
  ])("is refused with %s, naming the field", async (_what, body, fields) => {
    const answer = await trySignIn(system, body);
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: fields.map((field) => ({ path: [field] })) },
    });
  });

  it("is possible ten times a minute per address and e-mail, however many try at once, then 429", async () => {
    const { email, password } = await newPerson();
    const other = await system.startGateway();
    const wrong = { email, password: "wrong password" };
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => trySignIn(index % 2 === 0 ? system : other, wrong)),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(refused).toHaveLength(6);
    for (const answer of refused) {
      expect(answer).toMatchObject({ error: { code: "RATE_LIMITED" } });
      const seconds = Number(answer.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const right = await trySignIn(system, { email, password });
    expect(right).toMatchObject({ status: 429 });
    // Somebody else is not kept out.
    await signIn(system, await newPerson());
    await other.stop();
  });

  it("keeps only a hash of the token", async () => {
    const token = await signIn(system, await newPerson());
    const { rows } = await system.database.one(sql.type(z.object({ rows: z.string() }))`
      select string_agg(s::text, ',') as rows from gateway.sessions s
    `);
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(Buffer.from(token, "base64url").toString("hex"));
  });

  it("from a page of another site is refused, from a program without an origin it is not", async () => {
    const person = await newPerson();
    const foreign = await trySignIn(system, person, { origin: "https://elsewhere.example" });
    expect(foreign).toMatchObject(FORBIDDEN);
    expect(await trySignIn(system, person, { origin: system.origin })).toMatchObject({
      status: 200,
    });
    expect(await trySignIn(system, person)).toMatchObject({ status: 200 });
  });
});

describe("a session", () => {
  it("is refused when its token is made up, changed or missing", async () => {
    const token = await signIn(system, await newPerson());
    const last = token.endsWith("A") ? "E" : "A";
    const cookies = [
      `wfs_session=${"A".repeat(43)}`,
      `wfs_session=${token.slice(0, -1)}${last}`,
      "wfs_session=",
      `session=${token}`,
      `xwfs_session=${token}`,
    ];
    for (const cookie of cookies) {
      const answer = await system.call("GET", "/workflows", { key: null, headers: { cookie } });
      expect(answer).toMatchObject(UNAUTHORIZED);
    }
    const among = { cookie: `theme=dark; wfs_session=${token}; lang=en` };
    const found = await system.call("GET", "/workflows", { key: null, headers: among });
    expect(found.status).toBe(200);
  });

  it("changes something only with an Origin that is this very server", async () => {
    const { cookie } = bySession(system, await signIn(system, await newPerson())).headers;
    const { port } = new URL(system.origin);
    const send = (origin: string | undefined) =>
      system.call("POST", "/workflows", {
        key: null,
        headers: { cookie: cookie ?? "", ...(origin === undefined ? {} : { origin }) },
        body: workflowBody(),
      });
    const refused = [
      undefined,
      "null",
      "",
      "https://elsewhere.example",
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${Number(port) + 1}`,
      "http://127.0.0.1",
      `http://localhost:${port}`,
      `${system.origin}.elsewhere.example`,
      `${system.origin}/`,
    ];
    for (const origin of refused) expect(await send(origin)).toMatchObject(FORBIDDEN);
    expect(await send(system.origin)).toMatchObject({ status: 201 });
    const reading = await system.call("GET", "/workflows", {
      key: null,
      headers: { cookie: cookie ?? "" },
    });
    expect(reading.status).toBe(200);
  });

  it("behind a proxy that ends TLS is one of https; without a proxy nobody can say so", async () => {
    const person = await newPerson();
    const proxied = await system.startGateway({ trustedProxies: 1 });
    const https = { "x-forwarded-proto": "https" };
    const secure = await trySignIn(proxied, person, https);
    expect(secure.headers.get("set-cookie")).toMatch(/; Secure$/);
    const plain = await trySignIn(system, person, https);
    expect(plain.headers.get("set-cookie")).not.toMatch(/Secure/);
    const cookie = `wfs_session=${tokenIn(secure)}`;
    const send = ({ origin }: Pick<WholeSystem, "origin">, from: string) =>
      callApi(`${origin}/api/v1/workflows`, "POST", {
        headers: { ...https, cookie, origin: from },
        body: workflowBody(),
      });
    const secureOrigin = proxied.origin.replace("http:", "https:");
    expect(await send(proxied, secureOrigin)).toMatchObject({ status: 201 });
    expect(await send(proxied, proxied.origin)).toMatchObject(FORBIDDEN);
    expect(await send(system, system.origin.replace("http:", "https:"))).toMatchObject(FORBIDDEN);
    await proxied.stop();
  });

  it("does not matter beside an API key, which decides alone", async () => {
    const person = await system.createPerson(system.acme, "viewer");
    const session = bySession(system, await signIn(system, person));
    const both = { ...session, key: system.globex.key };
    const made = await system.call("POST", "/workflows", {
      key: system.globex.key,
      headers: { cookie: session.headers["cookie"] ?? "" },
      body: workflowBody({ name: "Of the key's company" }),
    });
    expect(made).toMatchObject({ status: 201 });
    expect((await system.call("GET", "/workflows", both)).text).toContain("Of the key's company");
    for (const key of ["", `wfk_${"a".repeat(32)}`]) {
      expect(await system.call("GET", "/workflows", { ...session, key })).toMatchObject(
        UNAUTHORIZED,
      );
    }
  });

  it("ends everywhere when its person signs out", async () => {
    const person = await newPerson();
    const other = await system.startGateway();
    const token = await signIn(system, person);
    const another = await signIn(system, person);
    const there = () => callApi(`${other.origin}/api/v1/workflows`, "GET", bySession(other, token));
    expect((await there()).status).toBe(200);
    const answer = await system.call("DELETE", "/auth/session", bySession(system, token));
    expect(answer).toMatchObject({ status: 200, data: { deleted: true } });
    expect(answer.headers.get("set-cookie")).toMatch(/^wfs_session=; .*Max-Age=0/);
    expect(await system.call("GET", "/auth/session", bySession(system, token))).toMatchObject(
      UNAUTHORIZED,
    );
    await waitFor(async () => (await there()).status === 401);
    const left = await system.call("GET", "/auth/session", bySession(system, another));
    expect(left.status).toBe(200);
    await other.stop();
  });

  it("ends when it has not been used for twelve hours, and seven days after it began", async () => {
    const changes = [
      sql.fragment`last_used_at = now() - interval '12 hours 1 second'`,
      sql.fragment`expires_at = now() - interval '1 second'`,
    ];
    for (const change of changes) {
      const person = await newPerson();
      const token = await signIn(system, person);
      // Before the session is looked at for the first time.
      await system.database.query(sql.type(z.object({}))`
        update gateway.sessions set ${change} where user_id = ${person.id}
      `);
      const answer = await system.call("GET", "/auth/session", bySession(system, token));
      expect(answer).toMatchObject(UNAUTHORIZED);
    }
  });

  it("is a matter of people: an API key is refused where one is needed", async () => {
    for (const method of ["GET", "DELETE"]) {
      expect(await system.call(method, "/auth/session")).toMatchObject(FORBIDDEN);
      expect(await system.call(method, "/auth/session", { key: null })).toMatchObject(UNAUTHORIZED);
    }
    const body = { currentPassword: "12345678", newPassword: "12345678" };
    expect(await system.call("POST", "/auth/password", { body })).toMatchObject(FORBIDDEN);
  });
});

describe("a change of the password", () => {
  const change = (token: string, currentPassword: string, newPassword: unknown) =>
    system.call("POST", "/auth/password", {
      ...bySession(system, token),
      body: { currentPassword, newPassword },
    });

  it("ends all other sessions of the person and the old password", async () => {
    const person = await newPerson();
    const [mine, others] = [await signIn(system, person), await signIn(system, person)];
    expect((await system.call("GET", "/workflows", bySession(system, others))).status).toBe(200);
    const password = "ｎｅｗ password"; // full-width letters
    expect(await change(mine, person.password, password)).toMatchObject({
      status: 200,
      data: { changed: true },
    });
    const after = await system.call("GET", "/workflows", bySession(system, others));
    expect(after).toMatchObject(UNAUTHORIZED);
    expect((await system.call("GET", "/workflows", bySession(system, mine))).status).toBe(200);
    expect(await trySignIn(system, person)).toMatchObject(UNAUTHORIZED);
    await signIn(system, { ...person, password });
    // Another keyboard composes the same characters differently.
    await signIn(system, { ...person, password: "new password" });
  });

  it("needs the current password and one of 8 to 256 characters", async () => {
    const person = await newPerson();
    const token = await signIn(system, person);
    const attempts: [string, unknown, string][] = [
      ["not this one", "long enough", "currentPassword"],
      [person.password, "short", "newPassword"],
      [person.password, "x".repeat(257), "newPassword"],
      [person.password, 12345678, "newPassword"],
    ];
    for (const [current, next, field] of attempts) {
      expect(await change(token, current, next)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: [field] }] },
      });
    }
    await signIn(system, person);
  });
});
