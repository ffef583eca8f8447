import { describe, expect, it } from "@jest/globals";
import { callAction, findProvider, PROVIDERS } from "../src/index.ts";
import type { ActionManifest, ProviderManifest, ProviderRequest } from "../src/index.ts";
import { PROVIDER_CASES } from "./cases/index.ts";

/** The place of a provider's idempotency key, by its reference. */
const MARKS = [
  ["stripe", "header", "idempotency-key"],
  ["resend", "header", "idempotency-key"],
  ["rillet", "header", "idempotency-key"],
  ["quickbooks", "query", "requestid"],
] as const;

/** The writes that ignore these keys, by the reference; they are sent without a key. */
const UNMARKED = ["resend.createContact"];

/** The place of single actions: a member of their body. */
const MEMBERS = [
  ["airwallex", "createTransfer", "request_id"],
  ["airwallex", "createConversion", "request_id"],
  ["docusign", "createEnvelope", "transactionId"],
  ["docusign", "createEnvelopeFromTemplate", "transactionId"],
  ["avalara", "createTransaction", "code"],
] as const;

const BASE_URL = "https://provider.test";
/** A key longer than any provider accepts, and not allowed in a header. */
const LONG_KEY = `run_1:${"schritt:ü".repeat(100)}`;

function manifestOf(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return provider;
}

async function requestFor(
  provider: ProviderManifest,
  action: ActionManifest,
  idempotencyKey: string,
): Promise<ProviderRequest> {
  const cases = PROVIDER_CASES.find((one) => one.provider === provider.id);
  const access = { fields: cases?.fields ?? {}, credentials: cases?.credentials ?? {} };
  const { code: _, ...inputs } = { ...action.example };
  const sent: ProviderRequest[] = [];
  const call = { inputs, access, baseUrl: BASE_URL, idempotencyKey };
  await callAction({ provider, action }, call, (request) => {
    sent.push(request);
    return Promise.resolve({ status: 400, headers: {}, body: null });
  });
  const [request] = sent;
  if (request === undefined) throw new Error("no request");
  return request;
}

function markOf({ headers, url }: ProviderRequest, place: "header" | "query", name: string) {
  return place === "header" ? (headers[name] ?? null) : new URL(url).searchParams.get(name);
}

const writesOf = (id: string): ActionManifest[] =>
  manifestOf(id).actions.filter(({ readOnly }) => readOnly !== true);

const all = MARKS.flatMap(([id, place, name]) =>
  writesOf(id).map((action) => ({ id: `${id}.${action.name}`, provider: id, action, place, name })),
);
const unmarked = all.filter(({ id }) => UNMARKED.includes(id));
const writes = all.filter((write) => !unmarked.includes(write));

describe("a write that is tried again is marked as the same", () => {
  it.each(writes)("$id, by its $place $name", async ({ provider, action, place, name }) => {
    const mark = async (key: string) =>
      markOf(await requestFor(manifestOf(provider), action, key), place, name);
    expect(await mark("run_1:step:1")).toBe("run_1:step:1");
    const long = await mark(LONG_KEY);
    expect(long).toMatch(/^[\x21-\x7e]{1,50}$/);
    expect(await mark(LONG_KEY)).toBe(long);
    expect(await mark(`${LONG_KEY}2`)).not.toBe(long);
  });

  it.each(unmarked)("but not $id", async ({ provider, action, place, name }) => {
    const request = await requestFor(manifestOf(provider), action, "run_1:step:1");
    expect(markOf(request, place, name)).toBeNull();
  });

  it.each(MEMBERS)("%s.%s, by its member %s", async (id, name, member) => {
    const provider = manifestOf(id);
    const action = provider.actions.find((one) => one.name === name);
    if (action === undefined) throw new Error(`no action ${name}`);
    const mark = async (key: string): Promise<unknown> => {
      const { body } = await requestFor(provider, action, key);
      return JSON.parse(body ?? "")[member];
    };
    const first = await mark("run_1:step:1");
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await mark("run_1:step:1")).toBe(first);
    expect(await mark("run_1:step:2")).not.toBe(first);
  });

  it("and those that have such a mark are all named here", () => {
    const marked = PROVIDERS.filter(
      ({ idempotencyHeader, idempotencyQuery }) =>
        idempotencyHeader !== undefined || idempotencyQuery !== undefined,
    );
    expect(marked.map(({ id }) => id).toSorted()).toEqual(MARKS.map(([id]) => id).toSorted());
    const members = PROVIDERS.flatMap(({ id, actions }) =>
      actions
        .filter(({ request }) => request.idempotencyMember !== undefined)
        .map(({ name, request }) => `${id}.${name} ${request.idempotencyMember}`),
    );
    expect(members.toSorted()).toEqual(
      MEMBERS.map(([id, name, member]) => `${id}.${name} ${member}`).toSorted(),
    );
  });
});
