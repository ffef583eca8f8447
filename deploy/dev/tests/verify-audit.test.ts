import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findLocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";
import {
  cleanUp,
  printedCompany,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
const resultSchema = z.looseObject({
  events: z.int(),
  ok: z.boolean(),
  end: z.strictObject({ seq: z.int(), hash: z.string().regex(/^[0-9a-f]{64}$/) }).optional(),
});

const EVENTS = 5;

let dataDir: string;
let settings: TestSettings;
let system: StartedSystem;
let companyId: string;

beforeAll(async () => {
  dataDir = await temporaryFolder();
  settings = await testSettings(dataDir);
  system = await startSystem(settings);
  companyId = printedCompany(system.stdout());
  const headers = {
    "x-api-key": printedKey(system.stdout()),
    "content-type": "application/json",
  };
  for (let made = 0; made < 3; made += 1) {
    const body = JSON.stringify({ name: "Audited", trigger: { type: "api" }, steps: [] });
    await fetch(`${system.baseUrl}/workflows`, { method: "POST", headers, body });
  }
  await waitFor(async () => {
    const response = await fetch(`${system.baseUrl}/audit-logs`, { headers });
    // Those that made the company and its key come before them.
    return listSchema.parse(await response.json()).data.length === EVENTS;
  });
});
afterAll(cleanUp);

async function verify(flags = "") {
  const { exitCode, stdout } = await runAdmin(settings, `verify-audit --json${flags}`);
  return { exitCode, ...resultSchema.parse(JSON.parse(stdout)) };
}

describe("npm run admin -- verify-audit", () => {
  it("says that nothing was touched, then finds what was, and tells by its exit code", async () => {
    expect(await verify()).toMatchObject({ exitCode: 0, ok: true, companies: 1, events: EVENTS });
    const { end, ...one } = await verify(` --company ${companyId}`);
    expect(one).toMatchObject({ exitCode: 0, ok: true, events: EVENTS });
    const anchored = ` --company ${companyId} --anchor ${end?.seq}:${end?.hash}`;
    expect(await verify(anchored)).toMatchObject({ ok: true });

    const postgres = await findLocalPostgres(dataDir);
    const client = new Client({ connectionString: postgres?.connectionUri });
    await client.connect();
    // As retention does it, which removes nothing as young as this.
    await client.query(`
      with gone as (delete from gateway.audit_log where seq = 1 returning company_id, seq, hash)
      insert into gateway.audit_starts (company_id, seq, hash) select * from gone
    `);
    expect(await verify(` --company ${companyId}`)).toMatchObject({
      exitCode: 0,
      ok: true,
      events: EVENTS - 1,
      start: { seq: 1 },
    });
    const { stdout } = await runAdmin(settings, `verify-audit --company ${companyId}`);
    expect(stdout).toMatch(/^Removed +up to 1:[0-9a-f]{64} \(retention\)$/m);

    await client.query("update gateway.audit_log set actor_name = 'Somebody' where seq = 2");
    await client.end();
    expect(await verify()).toMatchObject({
      exitCode: 1,
      ok: false,
      firstBroken: { companyId, seq: 2, reason: "changed" },
    });
  });

  it("refuses flags that make no sense", async () => {
    const anchor = `--anchor 1:${"0".repeat(64)}`;
    for (const flags of ["--company acme", "--anchor x", anchor]) {
      const { exitCode } = await runAdmin(settings, `verify-audit --json ${flags}`);
      expect(exitCode).toBe(2);
    }
  });
});
