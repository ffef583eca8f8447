import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createUser } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import { auditEvent } from "../support/audit-log.ts";
import { tokenIn, trySignIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, Gateway, Person, WholeSystem } from "../support/whole-system.ts";

const nothing = z.object({});
const LIMITED = { status: 429, error: { code: "RATE_LIMITED" } };
const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };

let system: WholeSystem;
/** Two gateways that believe what one proxy says of the address. */
let gateways: [Gateway, Gateway];

beforeAll(async () => {
  system = await startWholeSystem();
  gateways = [
    await system.startGateway({ trustedProxies: 1 }),
    await system.startGateway({ trustedProxies: 1 }),
  ];
});
afterAll(() => system.stop());

const newPerson = (): Promise<Person> => system.createPerson(system.acme, "member");
let addresses = 0;
/** An IPv4 address of its own. */
const newAddress = (): string => {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
};

function tryFrom(address: string, body: object, gateway = gateways[0]): Promise<Answer> {
  return trySignIn(gateway, body, { "x-forwarded-for": address, "x-request-id": "same" });
}

const wrong = ({ email }: Pick<Person, "email">) => ({ email, password: "wrong password" });

/** Of an account from everywhere. */
const subjectOf = (email: string): Buffer =>
  createHash("sha256")
    .update(JSON.stringify(["account", email, null]))
    .digest();

/** As if the account had been tried so often in vain, the last time just before the next may come. */
async function pretendFailures(email: string, failures: number): Promise<void> {
  await system.database.query(sql.type(nothing)`
    insert into gateway.account_tries (subject, failures, next_try_at, last_tried_at)
    values (${sql.binary(subjectOf(email))}, ${failures}, now(), now())
    on conflict (subject) do update
    set failures = excluded.failures, next_try_at = excluded.next_try_at
  `);
}

const retryAfterOf = ({ headers }: Answer): number => Number(headers.get("retry-after"));

describe("tries from one network", () => {
  it("are counted together for a /64 of IPv6, and apart for the next one", async () => {
    const email = "nobody@six.example";
    const first = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        tryFrom(`2001:db8:1:2::${(index + 1).toString(16)}`, wrong({ email })),
      ),
    );
    for (const answer of first) expect(answer).toMatchObject(UNAUTHORIZED);
    const same = ["2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:0DB8:0001:0002::1"];
    for (const address of same) {
      expect(await tryFrom(address, wrong({ email }), gateways[1])).toMatchObject(LIMITED);
    }
    expect(await tryFrom("2001:db8:1:3::1", wrong({ email }))).toMatchObject(UNAUTHORIZED);
  });

  it("are counted together for an IPv4 address and its forms in IPv6", async () => {
    const email = "nobody@mapped.example";
    const forms = ["203.0.113.7", "::ffff:203.0.113.7", "::ffff:cb00:7107"];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => tryFrom(forms[index % 3] ?? "", wrong({ email }))),
    );
    for (const answer of answers) expect(answer).toMatchObject(UNAUTHORIZED);
    for (const form of forms) expect(await tryFrom(form, wrong({ email }))).toMatchObject(LIMITED);
    // Mapped addresses are no /64 of their own: a neighbour is not concerned.
    expect(await tryFrom("::ffff:203.0.113.8", wrong({ email }))).toMatchObject(UNAUTHORIZED);
  });

  it("are refused before the body is looked at, when a hundred have come in a minute", async () => {
    const address = newAddress();
    const send = (raw: string) =>
      callApi(`${gateways[0].origin}/api/v1/auth/session`, "POST", {
        raw,
        headers: { "x-forwarded-for": address },
      });
    const answers = await Promise.all(Array.from({ length: 100 }, () => send("{nonsense")));
    for (const answer of answers) expect(answer).toMatchObject({ status: 400 });
    for (const raw of ["{nonsense", " ".repeat(100_000)]) {
      const refused = await send(raw);
      expect(refused).toMatchObject(LIMITED);
      expect(retryAfterOf(refused)).toBeGreaterThan(0);
      expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
    }
  });

  it("are counted for a whole /48 as well, which one subscriber may have", async () => {
    const site = createHash("sha256")
      .update(JSON.stringify(["site", "20010db80bad/48"]))
      .digest();
    // A thousand tries, without the time that they take.
    await system.database.query(sql.type(nothing)`
      insert into gateway.sign_in_tries (subject, tried_at, last_tried_at)
      select ${sql.binary(site)}, array_agg(now()), now() from generate_series(1, 1000)
    `);
    expect(await tryFrom("2001:db8:bad:7::1", wrong({ email: "a@b.example" }))).toMatchObject(
      LIMITED,
    );
    expect(await tryFrom("2001:db8:bae:7::1", wrong({ email: "a@b.example" }))).toMatchObject(
      UNAUTHORIZED,
    );
  });
});

describe("a sign-in's body", () => {
  it("is at most 4 KiB, whether it says so or not", async () => {
    const address = newAddress();
    const big = JSON.stringify({ email: "a@b.example", password: "x", more: "y".repeat(4_096) });
    expect(
      await tryFrom(address, { email: "a@b.example", password: "x".repeat(5_000) }),
    ).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
    const streamed = await fetch(`${gateways[0].origin}/api/v1/auth/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: new Blob([big]).stream(),
      duplex: "half",
    });
    expect(streamed.status).toBe(413);
    await streamed.body?.cancel();
  });
});

describe("tries of one account from many networks", () => {
  it("are free twenty times, then refused, the same with and without an account", async () => {
    const person = await newPerson();
    const unknown = { email: "nobody@everywhere.example" };
    const outcomes = await Promise.all(
      [person, unknown].map(async (who) => {
        const answers: Answer[] = [];
        // The eighteenth is over; after the twenty-fourth the pause outlasts the slowest machine.
        await pretendFailures(who.email, 18);
        for (let tries = 0; tries < 4; tries += 1) {
          if (tries === 1) await pretendFailures(who.email, 24);
          answers.push(await tryFrom(newAddress(), wrong(who), gateways[tries % 2]));
        }
        return answers;
      }),
    );
    const [known = [], none = []] = outcomes;
    const statuses = known.map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 429, 429]);
    expect(none.map(({ status }) => status)).toEqual(statuses);
    expect(none.map(({ text }) => text)).toEqual(known.map(({ text }) => text));
    for (const answers of outcomes) {
      const wait = retryAfterOf(answers.at(-1) ?? Object.create(null));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(160);
    }
    // The right password does not tell that it is right.
    expect(await tryFrom(newAddress(), person)).toMatchObject(LIMITED);
  });

  it("have pauses that grow, to a quarter of an hour and no longer", async () => {
    const person = await newPerson();
    const waits: number[] = [];
    for (const failures of [22, 24, 27, 500]) {
      await pretendFailures(person.email, failures);
      expect(await tryFrom(newAddress(), wrong(person))).toMatchObject(UNAUTHORIZED);
      const refused = await tryFrom(newAddress(), wrong(person), gateways[1]);
      expect(refused).toMatchObject(LIMITED);
      waits.push(retryAfterOf(refused));
    }
    const expected = [40, 160, 900, 900];
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(expected[index] ?? 0);
      // Less the time that the test itself took.
      expect(wait).toBeGreaterThan((expected[index] ?? 0) / 4);
    }
  });

  it("are let in one at a time after a pause, however many come at once", async () => {
    const person = await newPerson();
    await pretendFailures(person.email, 25);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        tryFrom(newAddress(), wrong(person), gateways[index % 2]),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  it("begin anew after a success", async () => {
    const person = await newPerson();
    await pretendFailures(person.email, 25);
    expect((await tryFrom(newAddress(), person)).status).toBe(200);
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await tryFrom(newAddress(), wrong(person))).toMatchObject(UNAUTHORIZED);
    }
    expect((await tryFrom(newAddress(), person)).status).toBe(200);
  });

  it("do not keep the person out where the person has signed in before", async () => {
    const person = await newPerson();
    const home = newAddress();
    expect((await tryFrom(home, person)).status).toBe(200);
    await pretendFailures(person.email, 500);
    expect(await tryFrom(newAddress(), wrong(person))).toMatchObject(UNAUTHORIZED);
    expect(await tryFrom(newAddress(), person)).toMatchObject(LIMITED);
    // A mistake of the person is not the stranger's next one either.
    expect(await tryFrom(home, wrong(person))).toMatchObject(UNAUTHORIZED);
    const back = await tryFrom(home, person, gateways[1]);
    expect(back.status).toBe(200);
    expect(tokenIn(back)).not.toBeNull();
    expect(await tryFrom(newAddress(), person)).toMatchObject(LIMITED);
  });

  it("from a known network have pauses of their own", async () => {
    const person = await newPerson();
    const home = newAddress();
    expect((await tryFrom(home, person)).status).toBe(200);
    await system.database.query(sql.type(nothing)`
      update gateway.known_networks
      set last_signed_in_at = now() - interval '31 days'
      where user_id = ${person.id}
    `);
    await pretendFailures(person.email, 500);
    expect(await tryFrom(newAddress(), wrong(person))).toMatchObject(UNAUTHORIZED);
    // Too long ago to count as the person's.
    expect(await tryFrom(home, person)).toMatchObject(LIMITED);
  });
});

describe("refused sign-ins in the audit log", () => {
  const events = z.array(auditEvent);
  async function refusalsOf(company: Company, userId: string) {
    const { data } = await system.call(
      "GET",
      `/audit-logs?action=session.refused&resourceId=${userId}&limit=100`,
      { key: company.key },
    );
    return events.parse(data);
  }

  it("stand in every company of the person who was meant, and in no other", async () => {
    const { acme, globex, database } = system;
    const person = await newPerson();
    const stranger = await newPerson();
    await createUser(database, { ...person, companyId: globex.id, role: "viewer" });
    const address = newAddress();
    await tryFrom(address, wrong(person));
    await tryFrom(address, { ...person, company: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63" });
    for (const company of [acme, globex]) {
      await waitFor(async () => (await refusalsOf(company, person.id)).length === 2);
      const [second, first] = await refusalsOf(company, person.id);
      expect(first).toMatchObject({
        actor: { type: "anonymous" },
        resourceType: "user",
        resourceId: person.id,
        ipAddress: address,
        requestId: "same",
        changes: { reason: { from: null, to: "password" } },
      });
      expect(second?.changes).toEqual({ reason: { from: null, to: "company" } });
      expect(await refusalsOf(company, stranger.id)).toEqual([]);
    }
  });

  it("are one for all that a limit refuses in its window, and none for unknown addresses", async () => {
    const person = await newPerson();
    await pretendFailures(person.email, 500);
    await tryFrom(newAddress(), wrong(person));
    const refused = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        tryFrom(newAddress(), wrong(person), gateways[index % 2]),
      ),
    );
    for (const answer of refused) expect(answer).toMatchObject(LIMITED);
    await waitFor(async () => (await refusalsOf(system.acme, person.id)).length >= 2);
    // What comes later in the order of writing has come later.
    const marker = await newPerson();
    await tryFrom(newAddress(), wrong(marker));
    await waitFor(async () => (await refusalsOf(system.acme, marker.id)).length === 1);
    const reasons = (await refusalsOf(system.acme, person.id)).map(
      ({ changes }) => changes["reason"],
    );
    expect(reasons).toHaveLength(2);
    expect(reasons).toContainEqual({ from: null, to: "limit" });
    const before = await countRefusals();
    await tryFrom(newAddress(), wrong({ email: "nobody@nowhere.example" }));
    await tryFrom(newAddress(), wrong(marker));
    await waitFor(async () => (await refusalsOf(system.acme, marker.id)).length === 2);
    expect(await countRefusals()).toBe(before + 1);
  });

  async function countRefusals(): Promise<number> {
    const { count } = await system.database.one(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from gateway.audit_log where action = 'session.refused'
    `);
    return count;
  }
});
