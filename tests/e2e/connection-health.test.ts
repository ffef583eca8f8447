import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { timestamp, startConnectedSystem } from "../support/connected-system.ts";
import type { ConnectedSystem } from "../support/connected-system.ts";

let system: ConnectedSystem["system"];
let double: ConnectedSystem["double"];
let oauth: ConnectedSystem["oauth"];
let connectRillet: ConnectedSystem["connectRillet"];
let get: ConnectedSystem["get"];
let setStatus: ConnectedSystem["setStatus"];
let addAuthorized: ConnectedSystem["addAuthorized"];
let stop: ConnectedSystem["stop"];
beforeAll(async () => {
  ({ system, double, oauth, connectRillet, get, setStatus, addAuthorized, stop } =
    await startConnectedSystem());
});
afterAll(() => stop?.());

describe("POST /connections/{id}/verify", () => {
  const verify = (id: string) => system.call("POST", `/connections/${id}/verify`);

  it("says healthy and active when the provider accepts the keys, also after an error", async () => {
    const id = await connectRillet();
    await setStatus(id, "error");
    const answer = await verify(id);
    expect(answer).toMatchObject({
      status: 200,
      data: {
        healthy: true,
        connectionId: id,
        provider: "rillet",
        status: "active",
        externalAccountId: "org_1",
        error: null,
      },
    });
    expect(timestamp.parse(Object(answer.data).checkedAt)).toBeTruthy();
    expect(await get(id)).toMatchObject({ status: "active", errorMessage: null });
  });

  it("says unhealthy and error when the provider refuses them, in its words without the key", async () => {
    const id = await connectRillet("good-revoked-hush");
    double.revoked.add("good-revoked-hush");
    const answer = await verify(id);
    expect(answer).toMatchObject({ status: 200, data: { healthy: false, status: "error" } });
    const { errorMessage } = await get(id);
    expect(Object(answer.data).error).toBe(errorMessage);
    expect(errorMessage).toContain("••••");
    expect(answer.text).not.toContain("hush");
  });

  it("changes no status when the provider does not answer", async () => {
    const id = await connectRillet("good-then-down");
    const before = await get(id);
    double.unanswered.add("good-then-down");
    expect(await verify(id)).toMatchObject({
      status: 200,
      data: { healthy: false, status: "active", error: expect.any(String) },
    });
    expect(await get(id)).toEqual(before);
  });

  it("tells to complete OAuth as long as the connection is pending", async () => {
    const id = await addAuthorized("stripe", "pending");
    const answer = await verify(id);
    expect(answer).toMatchObject({
      status: 200,
      data: { healthy: false, status: "pending", error: expect.stringMatching(/complete OAuth/) },
    });
    expect(await get(id)).toMatchObject({ status: "pending" });
  });

  it.each(["disconnected", "abandoned"])("says unhealthy for a %s one", async (status) => {
    const id = await addAuthorized("stripe", status);
    expect(await verify(id)).toMatchObject({ status: 200, data: { healthy: false, status } });
  });
});

describe("POST /connections/{id}/refresh", () => {
  const refresh = (id: string) => system.call("POST", `/connections/${id}/refresh`);

  it("answers when the account was last reached, for keys that are good", async () => {
    const id = await connectRillet();
    const answer = await refresh(id);
    expect(answer).toMatchObject({ status: 200, data: { id, message: expect.any(String) } });
    const { lastSyncedAt } = await get(id);
    expect(Object(answer.data).lastSyncedAt).toBe(lastSyncedAt);
    expect(lastSyncedAt).not.toBeNull();
  });

  it("answers 500 and puts the connection into error when it fails", async () => {
    const id = await connectRillet("good-to-fail-hush");
    double.revoked.add("good-to-fail-hush");
    const answer = await refresh(id);
    expect(answer).toMatchObject({ status: 500, error: { code: "INTERNAL_ERROR" } });
    expect(await get(id)).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining("••••"),
    });
  });

  it("answers 400 for one that is not connected", async () => {
    const id = await addAuthorized("stripe", "pending");
    expect(await refresh(id)).toMatchObject({
      status: 400,
      error: { details: { currentStatus: "pending" } },
    });
  });
});

describe("an account that a person authorizes", () => {
  const begun = z.strictObject({
    id: z.string(),
    name: z.literal("Mail"),
    provider: z.literal("google-mail"),
    status: z.literal("pending"),
    oauthUrl: z.url(),
    message: z.string().min(1),
  });

  /** Begins a connection and completes it as a person would. */
  async function authorize(): Promise<string> {
    const body = { name: "Mail", provider: "google-mail", metadata: { team: "sales" } };
    const answer = await system.call("POST", "/connections", { body });
    expect(answer.status).toBe(201);
    const { id, oauthUrl } = begun.parse(answer.data);
    expect(await get(id)).toMatchObject({ status: "pending", metadata: { team: "sales" } });
    const back = await fetch(await oauth.visit(oauthUrl), { redirect: "manual" });
    expect([back.status, await back.text()]).toEqual([200, expect.stringContaining("active")]);
    expect(await get(id)).toMatchObject({ status: "active" });
    return id;
  }

  const verify = (id: string) => system.call("POST", `/connections/${id}/verify`);
  const refresh = (id: string) => system.call("POST", `/connections/${id}/refresh`);
  /** The token that the provider saw last. */
  const tokenSeen = () => double.requests.at(-1)?.headers.authorization?.slice("Bearer ".length);

  it("is pending until then, gets other tokens by refresh, and before it is called unhealthy", async () => {
    const id = await authorize();
    await verify(id);
    const first = tokenSeen();
    expect(await refresh(id)).toMatchObject({ status: 200, data: { id } });
    expect(await verify(id)).toMatchObject({ data: { healthy: true, status: "active" } });
    const second = tokenSeen();
    expect(second).not.toBe(first);
    double.revoked.add(second ?? "");
    expect(await verify(id)).toMatchObject({ data: { healthy: true, status: "active" } });
    expect(tokenSeen()).not.toBe(second);
  });

  it("is in error when its tokens are refused and can't be renewed", async () => {
    const id = await authorize();
    await verify(id);
    double.revoked.add(tokenSeen() ?? "");
    oauth.failures.push({ status: 400, error: "invalid_grant" });
    expect(await verify(id)).toMatchObject({
      status: 200,
      data: { healthy: false, status: "error", error: expect.any(String) },
    });
  });

  it("is in error after a refresh that fails, which answers 500", async () => {
    const id = await authorize();
    oauth.failures.push({ status: 400, error: "invalid_grant" });
    expect(await refresh(id)).toMatchObject({ status: 500, error: { code: "INTERNAL_ERROR" } });
    expect(await get(id)).toMatchObject({ status: "error", errorMessage: expect.any(String) });
  });
});

describe("GET /connections/{id}/plaid/accounts", () => {
  const accounts = (id: string) => system.call("GET", `/connections/${id}/plaid/accounts`);

  it("answers 400 for a provider without banks, and for a bank that is not connected", async () => {
    expect(await accounts(await connectRillet())).toMatchObject({ status: 400 });
    expect(await accounts(await addAuthorized("plaid", "pending"))).toMatchObject({ status: 400 });
  });

  it("answers 400 NOT_CONFIGURED where a credential for the bank is missing", async () => {
    const id = await addAuthorized("plaid", "active");
    expect(await accounts(id)).toMatchObject({ status: 400, error: { code: "NOT_CONFIGURED" } });
  });
});
