import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { SCOPES } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { bySession, signIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };
const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };
const PASSWORD = "a password of mine";
const nothing = z.object({});

let system: WholeSystem;
let asOwner: CallOptions;

beforeAll(async () => {
  system = await startWholeSystem();
  asOwner = bySession(system, await signIn(system, system.acme.owner));
});
afterAll(() => system.stop());

interface Insider {
  id: string;
  session: CallOptions;
  /** An API key of the insider's making. */
  key: string;
}
type Act = (insider: Insider) => ReturnType<WholeSystem["call"]>;

async function createInsider(role: "owner" | "admin"): Promise<Insider> {
  const person = await system.createPerson(system.acme, role);
  const session = bySession(system, await signIn(system, person));
  const body = { name: "mine", scopes: SCOPES };
  const made = await system.call("POST", "/auth/api-keys", { ...session, body });
  return { id: person.id, session, key: z.object({ key: z.string() }).parse(made.data).key };
}

const add = (role: string, options: CallOptions) =>
  system.call("POST", "/members", {
    ...options,
    body: { email: "puppet@acme.example", password: PASSWORD, role },
  });
const giveRole = (id: string, role: string, options: CallOptions) =>
  system.call("PATCH", `/members/${id}`, { ...options, body: { role } });
const makeKey = (options: CallOptions) =>
  system.call("POST", "/auth/api-keys", {
    ...options,
    body: { name: "for later", scopes: ["api_keys:write"] },
  });

const removed: Act = ({ id }) => system.call("DELETE", `/members/${id}?revokeKeys=true`, asOwner);
const lowered =
  (role: string): Act =>
  ({ id }) =>
    giveRole(id, role, asOwner);

it.each<[string, "owner" | "admin", Act, Act, object]>([
  [
    "who is removed adds nobody",
    "admin",
    removed,
    ({ session }) => add("admin", session),
    UNAUTHORIZED,
  ],
  [
    "whose key is revoked adds nobody with it",
    "admin",
    removed,
    ({ key }) => add("viewer", { key }),
    UNAUTHORIZED,
  ],
  [
    "who is removed removes nobody",
    "owner",
    removed,
    ({ session }) => system.call("DELETE", `/members/${system.acme.owner.id}`, session),
    UNAUTHORIZED,
  ],
  [
    "who is owner no more is not made one again",
    "owner",
    lowered("admin"),
    ({ id, session }) => giveRole(id, "owner", session),
    FORBIDDEN,
  ],
  [
    "who is owner no more adds none",
    "owner",
    lowered("admin"),
    ({ session }) => add("owner", session),
    FORBIDDEN,
  ],
  [
    "who is admin no more makes no key",
    "admin",
    lowered("viewer"),
    ({ session }) => makeKey(session),
    FORBIDDEN,
  ],
  [
    "who is admin no more adds nobody",
    "admin",
    lowered("viewer"),
    ({ session }) => add("viewer", session),
    FORBIDDEN,
  ],
])(
  "somebody %s by a request that was let in before",
  async (_what, role, change, attempt, refusal) => {
    const insider = await createInsider(role);
    const holding = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const hold = system.database.transaction(async (transaction) => {
      await transaction.query(sql.type(nothing)`
      select from gateway.companies where id = ${system.acme.id} for no key update
    `);
      holding.resolve();
      await released.promise;
    });
    await holding.promise;
    try {
      // One after the other they wait for the lock, and get it in this order.
      const changed = change(insider);
      await waitForWaiters(1);
      const attempted = attempt(insider);
      await waitForWaiters(2);
      released.resolve();
      expect(await changed).toMatchObject({ status: 200 });
      expect(await attempted).toMatchObject(refusal);
    } finally {
      released.resolve();
      await hold;
    }
    const { data } = await system.call("GET", "/members");
    expect(JSON.stringify(data)).not.toContain("puppet@acme.example");
    const keys = await system.call("GET", `/auth/api-keys?createdBy=${insider.id}`);
    expect(JSON.stringify(keys.data)).not.toContain("for later");
  },
);

async function waitForWaiters(count: number): Promise<void> {
  const waiting = async (): Promise<number> => {
    const rows = await system.database.any(sql.type(z.object({ pid: z.number() }))`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
    `);
    return rows.length;
  };
  await waitFor(async () => (await waiting()) === count, {
    timeoutMs: 60_000,
    what: `${count} to wait for the members`,
  });
}
