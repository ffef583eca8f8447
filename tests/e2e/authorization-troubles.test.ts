import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { TROUBLES, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { BACK, comeBack, startAuthorizing } from "../support/authorizing-system.ts";
import type { AuthorizingSystem } from "../support/authorizing-system.ts";

let authorizing: AuthorizingSystem<"google-mail" | "salesforce" | "quickbooks" | "docusign">;

beforeAll(async () => {
  authorizing = await startAuthorizing(
    {
      "google-mail": { issuer: "https://accounts.google.com" },
      salesforce: {
        expiresInSeconds: null,
        tokenMembers: { instance_url: "https://acme.my.salesforce.com", token_type: "Bearer" },
      },
      quickbooks: {
        clientAuth: "client_secret_basic",
        callbackParams: { realmId: "4620816365" },
      },
      // Its server says nothing of accounts.
      docusign: { clientAuth: "client_secret_basic" },
    },
    { answerTimeoutMs: 3_000 },
  );
});
afterAll(() => authorizing?.stop());
beforeEach(() => authorizing.reset());

describe("a provider that cannot be understood", () => {
  it.each(TROUBLES)(
    "%s: the person is told so, nothing hangs and a later try succeeds",
    async (trouble) => {
      const { authUrl, connectionId } = await authorizing.begin("google-mail", {
        redirectUrl: BACK,
      });
      authorizing.serverOf("google-mail").trouble = trouble;
      const back = await comeBack(await authorizing.serverOf("google-mail").visit(authUrl));
      expect(back.location).toBe(`${BACK}&error=provider_unreachable&connectionId=${connectionId}`);
      expect(await authorizing.statusOf(connectionId)).toBe("pending");
      authorizing.serverOf("google-mail").trouble = null;
      expect(
        (await comeBack(await authorizing.serverOf("google-mail").visit(authUrl))).location,
      ).toContain("success=true");
    },
  );
});

it("an account that the provider does not name is not connected; the attempt stays open", async () => {
  const { authUrl, connectionId } = await authorizing.begin("docusign");
  expect(await comeBack(await authorizing.serverOf("docusign").visit(authUrl))).toMatchObject({
    body: { error: { details: { error: "provider_unreachable" } } },
  });
  expect(await authorizing.statusOf(connectionId)).toBe("pending");
  const state = await authorizing.system.database.oneFirst(sql.type(
    z.object({ state: z.string() }),
  )`
    select state from integrations.authorization_attempts where connection_id = ${connectionId}
  `);
  expect(state).toBe("open");
});

describe("a connection that is deleted", () => {
  it("is revoked at the provider; one that cannot be is gone all the same and is tried again", async () => {
    const first = await authorizing.connect("salesforce");
    const given = authorizing.serverOf("salesforce").given.at(-1)?.refreshToken ?? "";
    authorizing.serverOf("salesforce").trouble = "server-error";
    expect(await authorizing.system.call("DELETE", `/connections/${first}`)).toMatchObject({
      status: 200,
      data: { deleted: true },
    });
    expect(await authorizing.statusOf(first)).toBe("disconnected");
    const failed = await waitFor(async () => {
      const row = await findRevocation();
      return row?.lastError === null ? null : row;
    });
    expect(failed).toMatchObject({ tries: 1, waits: true });
    expect(failed?.lastError).toMatch(/Salesforce cannot be asked/);
    expect(authorizing.serverOf("salesforce").isRevoked(given)).toBe(false);

    authorizing.serverOf("salesforce").trouble = null;
    await authorizing.system.database.query(sql.type(z.object({}))`
      update integrations.revocations set next_try_at = now()
    `);
    // Whoever queues another one wakes those who take them back.
    const second = await authorizing.connect("quickbooks");
    await authorizing.system.call("DELETE", `/connections/${second}`);
    await waitFor(async () => expect(await findRevocation()).toBeNull());
    expect(authorizing.serverOf("salesforce").isRevoked(given)).toBe(true);
    expect(
      authorizing
        .serverOf("quickbooks")
        .isRevoked(authorizing.serverOf("quickbooks").given.at(-1)?.refreshToken ?? ""),
    ).toBe(true);
  });
});

function findRevocation() {
  const row = z.object({ tries: z.number(), lastError: z.string().nullable(), waits: z.boolean() });
  return authorizing.system.database.maybeOne(sql.type(row)`
    select tries, last_error as "lastError", next_try_at > now() + interval '10 seconds' as "waits"
    from integrations.revocations
    order by created_at
    limit 1
  `);
}
