import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { signIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** Of one company; more than may wait for their passwords to be hashed. */
const FLOOD = 60;
/** One more than may wait: the first does not. */
const ROOM = 26;
/** A hash takes 0.2 s where nothing else is going on. */
const TIMEOUT_MS = 240_000;

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const add = (index: number, key: string, host = "flood") =>
  system.call("POST", "/members", {
    key,
    body: {
      email: `person${index}@${host}.example`,
      password: "a password of mine",
      role: "viewer",
    },
  });

it(
  "members that one company adds by the dozen hold up neither sign-ins nor other companies",
  async () => {
    const { acme, globex } = system;
    let open = 0;
    const flood = Array.from({ length: FLOOD }, async (_, index) => {
      open += 1;
      const answer = await add(index, acme.key);
      open -= 1;
      return answer;
    });
    await waitFor(() => open <= ROOM, { timeoutMs: 60_000, what: "the rest to be refused" });
    // While the company's own wait, others come next.
    await signIn(system, globex.owner);
    expect(await add(1, globex.key, "elsewhere")).toMatchObject({ status: 201 });
    expect(open).toBeGreaterThan(0);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThanOrEqual(FLOOD / 4);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 429, error: { code: "RATE_LIMITED" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const first = answers.findIndex(({ status }) => status === 201);
    expect(await add(first, acme.key)).toMatchObject({ status: 409 });
  },
  TIMEOUT_MS,
);
