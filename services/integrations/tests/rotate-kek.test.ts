import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Identity } from "@workflow/rpc";
import { rotateKek } from "@workflow/sealing";
import type { KekSource } from "@workflow/sealing";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness, SecretsClient } from "./support/harness.ts";

let harness: Harness;
let database: Database;
/** What the file of the keys would hold. */
let stored: readonly Buffer[];
let client: SecretsClient;

beforeEach(async () => {
  harness = await startHarness();
  stored = [harness.kek];
  client = harness.connect(await harness.start({ loadKeks: () => Promise.resolve(stored) }));
  database = await openDatabase({
    connectionUri: harness.databaseUri,
    role: "workflow_integrations",
    applicationName: "test-rotation",
    maxConnections: 2,
  });
});
afterEach(async () => {
  await database.end();
  await harness.close();
});

/** A source that keeps its keys as the file of `npm start` does. */
function source(): KekSource {
  return {
    begin: () => {
      if (stored.length === 1) stored = [randomBytes(32), ...stored];
      return Promise.resolve(stored);
    },
    end: (kek) => {
      stored = [kek];
      return Promise.resolve();
    },
  };
}

function fixedSource(...keks: Buffer[]): KekSource {
  return { begin: () => Promise.resolve(keks), end: () => Promise.resolve() };
}

function rotate(keys: KekSource) {
  return rotateKek([{ database, schema: "integrations" }], keys);
}

/** A company with a secret; the value tells whose it is. */
async function makeCompany(workflowId: string): Promise<Identity> {
  const identity = newIdentity();
  await client.createSecret({ workflowId, key: "A", value: identity.companyId }, { identity });
  return identity;
}

async function expectReadable(
  reader: SecretsClient,
  workflowId: string,
  companies: readonly Identity[],
): Promise<void> {
  for (const identity of companies) {
    const request = { workflowId, keys: ["A"] };
    expect(await reader.resolveSecrets(request, { identity })).toEqual({
      values: { A: identity.companyId },
      bound: {},
    });
  }
}

/** How many company keys are under each KEK. */
async function countByKek(): Promise<Record<string, number>> {
  const rows = await harness.database.any(
    sql.type(z.object({ kekId: z.string(), count: z.number() }))`
      select kek_id as "kekId", count(*) as count from integrations.company_keys group by kek_id
    `,
  );
  return Object.fromEntries(rows.map(({ kekId, count }) => [kekId, count]));
}

describe("rotate-kek", () => {
  it("wraps every company's key anew, so that the old key is not needed any more", async () => {
    const workflowId = newUuid();
    const companies: Identity[] = [];
    for (let index = 0; index < 12; index += 1) companies.push(await makeCompany(workflowId));
    const rotation = await rotate(source());
    expect(rotation).toEqual({
      kekId: expect.stringMatching(/^[0-9a-f]{16}$/),
      rewrapped: 12,
      companyKeys: 12,
      retired: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    });
    expect(stored).toHaveLength(1);
    expect(stored[0]?.equals(harness.kek)).toBe(false);
    expect(await countByKek()).toEqual({ [rotation.kekId]: 12 });
    // The service that ran meanwhile, and one that knows only the new key from its start.
    await expectReadable(client, workflowId, companies);
    const fresh = await harness.start({ loadKeks: () => Promise.resolve(stored) });
    await expectReadable(harness.connect(fresh), workflowId, companies);
  });

  it("changes nothing when everything is under the first key already", async () => {
    const workflowId = newUuid();
    const company = await makeCompany(workflowId);
    const first = await rotate(fixedSource(harness.kek));
    expect(first).toMatchObject({ rewrapped: 0, companyKeys: 1, retired: [] });
    await expectReadable(client, workflowId, [company]);
  });

  it("goes on where an earlier one was interrupted", async () => {
    const workflowId = newUuid();
    const companies = [await makeCompany(workflowId), await makeCompany(workflowId)];
    const interrupted: KekSource = {
      ...source(),
      end: () => Promise.reject(new Error("the power is gone")),
    };
    await expect(rotate(interrupted)).rejects.toThrow("the power is gone");
    expect(stored).toHaveLength(2);
    await expectReadable(client, workflowId, companies);
    const rotation = await rotate(source());
    expect(rotation).toMatchObject({ rewrapped: 0, companyKeys: 2 });
    expect(stored).toHaveLength(1);
    await expectReadable(client, workflowId, companies);
  });

  it("loses no secret of companies that store their first one meanwhile", async () => {
    const workflowId = newUuid();
    const making = Array.from({ length: 40 }, () => makeCompany(workflowId));
    const rotations: Promise<unknown>[] = [];
    for (let index = 0; index < 5; index += 1) {
      await making[index * 8];
      rotations.push(rotate(source()));
      await rotations.at(-1);
    }
    const companies = await Promise.all(making);
    await rotate(source());
    expect(Object.values(await countByKek())).toEqual([40]);
    await expectReadable(client, workflowId, companies);
    const fresh = await harness.start({ loadKeks: () => Promise.resolve(stored) });
    await expectReadable(harness.connect(fresh), workflowId, companies);
  });

  it("is refused while another one is under way", async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: KekSource = {
      async begin() {
        begun.resolve();
        await goOn.promise;
        return [harness.kek];
      },
      end: () => Promise.resolve(),
    };
    const first = rotate(slow);
    await begun.promise;
    const second = await errorOf(rotate(source()));
    expect(second.reason).toBe("CONFLICT");
    goOn.resolve();
    await first;
    expect(stored).toHaveLength(1);
  });

  it("does nothing without the key that opens what is stored, and names the setting", async () => {
    const workflowId = newUuid();
    const company = await makeCompany(workflowId);
    const before = await countByKek();
    await expect(rotate(fixedSource(randomBytes(32)))).rejects.toThrow(/SECRETS_KEK/);
    expect(await countByKek()).toEqual(before);
    await expectReadable(client, workflowId, [company]);
  });

  it("keeps a service that knows the old key only from encrypting with it again", async () => {
    const workflowId = newUuid();
    await makeCompany(workflowId);
    await rotate(fixedSource(randomBytes(32), harness.kek));
    const identity = newIdentity();
    const request = { workflowId, key: "A", value: "value" };
    const error = await errorOf(harness.client.createSecret(request, { identity }));
    expect(error.reason).toBe("UNAVAILABLE");
    expect(harness.logged()).toMatch(/SECRETS_KEK begins with the key \w+, which has been retired/);
  });
});
