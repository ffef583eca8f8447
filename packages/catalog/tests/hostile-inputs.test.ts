import { describe, expect, it } from "@jest/globals";
import {
  callAction,
  checkInputs,
  InvalidInputError,
  inputsOf,
  MissingFieldError,
  placeholdersOf,
  PROVIDERS,
} from "../src/index.ts";
import type { ActionManifest, ProviderManifest, ProviderRequest } from "../src/index.ts";
import { PROVIDER_CASES } from "./cases/index.ts";

const BASE_URL = "https://provider.test/base";

const HOSTILE = [
  "a/b",
  "../../admin",
  "a?expand=secrets",
  "a#b",
  "//evil.test/x",
  "https://evil.test",
  "\\\\evil.test\\x",
  "@evil.test",
  "%2e%2e%2fadmin",
  "a\r\nhost: evil.test",
  "a;b",
];

/** Each action with each input in its path. */
const inPaths = PROVIDERS.flatMap((provider) =>
  provider.actions.flatMap((action) =>
    inputsOf(action)
      .filter(({ key }) => placeholdersOf(action.request.path).includes(key))
      .map(({ key }) => ({ id: `${provider.id}.${action.name}`, key, provider, action })),
  ),
);

async function requestFor(
  provider: ProviderManifest,
  action: ActionManifest,
  inputs: Record<string, unknown>,
  fields: Record<string, string> = {},
): Promise<ProviderRequest | undefined> {
  const cases = PROVIDER_CASES.find((one) => one.provider === provider.id);
  const access = { fields: { ...cases?.fields, ...fields }, credentials: cases?.credentials ?? {} };
  let sent: ProviderRequest | undefined;
  await callAction({ provider, action }, { inputs, access, baseUrl: BASE_URL }, (request) => {
    sent = request;
    return Promise.resolve({ status: 400, headers: {}, body: null });
  });
  return sent;
}

/** An input changes only the text of its own path segment. */
const shapeOf = (url: string): number => new URL(url).pathname.split("/").length;

describe("no input leaves its place in the path", () => {
  it.each(inPaths)("$id: $key", async ({ key, provider, action }) => {
    const wanted = await requestFor(provider, action, action.example);
    if (wanted === undefined) throw new Error("no request");
    for (const value of HOSTILE) {
      const inputs = { ...action.example, [key]: value };
      // An input whose schema refuses the value is not sent at all.
      if (checkInputs(action, inputs).length > 0) continue;
      const request = await requestFor(provider, action, inputs);
      const url = new URL(request?.url ?? "");
      expect(url.origin).toBe("https://provider.test");
      expect(url.hash).toBe("");
      expect([value, shapeOf(url.href)]).toEqual([value, shapeOf(wanted.url)]);
      expect([...url.searchParams.keys()]).toEqual([...new URL(wanted.url).searchParams.keys()]);
    }
  });

  it.each(inPaths)("$id: $key can't be a dot", async ({ key, provider, action }) => {
    for (const value of [".", ".."]) {
      const inputs = { ...action.example, [key]: value };
      if (checkInputs(action, inputs).length > 0) continue;
      await expect(requestFor(provider, action, inputs)).rejects.toThrow(InvalidInputError);
    }
  });
});

/** Each action with each field of the connection in its path. */
const fieldsInPaths = PROVIDERS.flatMap((provider) => {
  const fields = Object.keys(
    PROVIDER_CASES.find((one) => one.provider === provider.id)?.fields ?? {},
  );
  return provider.actions.flatMap((action) =>
    placeholdersOf(action.request.path)
      .filter((key) => fields.includes(key))
      .map((key) => ({ id: `${provider.id}.${action.name}`, key, provider, action })),
  );
});

describe("no field of a connection leaves its place in the path", () => {
  it.each(fieldsInPaths)("$id: $key", async ({ key, provider, action }) => {
    const { [key]: _, ...inputs } = { ...action.example };
    const wanted = await requestFor(provider, action, inputs);
    for (const value of HOSTILE) {
      const request = await requestFor(provider, action, inputs, { [key]: value });
      const url = new URL(request?.url ?? "");
      expect([value, url.origin, url.hash]).toEqual([value, "https://provider.test", ""]);
      expect([value, shapeOf(url.href)]).toEqual([value, shapeOf(wanted?.url ?? "")]);
    }
  });

  it.each(fieldsInPaths)("$id: $key can't be a dot", async ({ key, provider, action }) => {
    const { [key]: _, ...inputs } = { ...action.example };
    for (const value of [".", ".."]) {
      const request = requestFor(provider, action, inputs, { [key]: value });
      await expect(request).rejects.toThrow(MissingFieldError);
    }
  });
});

/** Each action with the keys in its path that no input has: fields of the connection. */
const actions = PROVIDERS.flatMap((provider) =>
  provider.actions.map((action) => ({ id: `${provider.id}.${action.name}`, provider, action })),
);

describe("what no field has, and what is empty, changes nothing", () => {
  it.each(actions)("$id", async ({ provider, action }) => {
    const wanted = await requestFor(provider, action, action.example);
    const known = inputsOf(action).map(({ key }) => key);
    const undeclared = ["realmId", "accountId", ...placeholdersOf(action.request.path)]
      .filter((key) => !known.includes(key))
      .map((key) => [key, "evil"]);
    const empty = known
      .filter((key) => !Object.hasOwn(action.example, key))
      .map((key) => [key, ""]);
    const inputs = { ...action.example, ...Object.fromEntries([...undeclared, ...empty]) };
    expect(checkInputs(action, inputs)).toEqual([]);
    const request = await requestFor(provider, action, inputs);
    expect(request?.method).toBe(wanted?.method);
    expect(request?.url).toBe(wanted?.url);
    expect(withoutChance(request?.body)).toBe(withoutChance(wanted?.body));
  });
});

/** A message has a boundary, an id and a time that differ each time. */
function withoutChance(body: string | undefined): string | undefined {
  return body?.replace(/"raw":"[^"]*"/, '"raw":""');
}

describe("addresses that are written to be hard to read", () => {
  it.each([
    ["quoted marks without an end", `"${'\\"'.repeat(49_999)}`],
    ["nothing but marks", '"'.repeat(100_000)],
    ["names of blanks", `a${" ".repeat(400)}b,`.repeat(240)],
  ])("are refused in a time that grows with their length: %s", (_, to) => {
    const provider = PROVIDERS.find(({ id }) => id === "resend");
    const action = provider?.actions.find(({ name }) => name === "sendEmail");
    if (action === undefined) throw new Error("no action");
    // A quadratic reader would take ten seconds for the first text.
    expect(checkInputs(action, { ...action.example, to })).not.toEqual([]);
  });
});
