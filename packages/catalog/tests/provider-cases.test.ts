import { describe, expect, it } from "@jest/globals";
import {
  callAction,
  checkInputs,
  findProvider,
  InvalidInputError,
  PROVIDERS,
} from "../src/index.ts";
import type { ProviderAnswer, ProviderRequest } from "../src/index.ts";
import type { ActionCase, ProviderCases } from "./cases/action-case.ts";
import { answerBody } from "./cases/answer-body.ts";
import { expectRequest } from "./cases/expect-request.ts";
import { PROVIDER_CASES } from "./cases/index.ts";

const BASE_URL = "https://provider.test/base";
const IDEMPOTENCY_KEY = "run_1:step:1";

function manifestOf(id: string) {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return provider;
}

/** Gives the answers of a case, and checks each request. */
function playExchanges(cases: ProviderCases, { exchanges }: ActionCase) {
  const provider = manifestOf(cases.provider);
  let asked = 0;
  const send = (request: ProviderRequest): Promise<ProviderAnswer> => {
    const exchange = exchanges[asked];
    if (exchange === undefined) throw new Error(`an exchange too many: ${request.url}`);
    asked += 1;
    expectRequest(request, provider, exchange.request, {
      baseUrl: BASE_URL,
      idempotencyKey: IDEMPOTENCY_KEY,
      signature: cases.signature,
    });
    const { status = 200, headers = {} } = exchange.answer;
    return Promise.resolve({ status, headers, body: answerBody(exchange.answer, BASE_URL) });
  };
  return { send, asked: () => asked };
}

/** The inputs that the schemas or the request builder refuse; no request may be sent. */
async function refusedInputs(
  target: Parameters<typeof callAction>[0],
  call: Parameters<typeof callAction>[1],
): Promise<string[]> {
  const problems = checkInputs(target.action, call.inputs);
  if (problems.length > 0) return problems.map(({ path: [key = ""] }) => key);
  const send = () => Promise.reject(new Error("something was sent"));
  return callAction(target, call, send).then(
    () => [],
    (error: unknown) => {
      if (error instanceof InvalidInputError) return [error.key];
      throw error;
    },
  );
}

describe.each(PROVIDER_CASES)("$provider", (cases) => {
  const provider = manifestOf(cases.provider);
  const call = {
    access: { fields: cases.fields, credentials: cases.credentials },
    baseUrl: BASE_URL,
    idempotencyKey: IDEMPOTENCY_KEY,
  };

  it.each(cases.cases.map((one) => [`${one.action} ${one.what ?? ""}`.trim(), one] as const))(
    "%s",
    async (_, one) => {
      const action = provider.actions.find(({ name }) => name === one.action);
      if (action === undefined) throw new Error(`no action ${one.action}`);
      const { send, asked } = playExchanges(cases, one);
      if (one.refused !== undefined) {
        expect(
          await refusedInputs({ provider, action }, { ...call, inputs: one.inputs }),
        ).toContain(one.refused);
        return;
      }
      expect(checkInputs(action, one.inputs)).toEqual([]);
      const result = await callAction({ provider, action }, { ...call, inputs: one.inputs }, send);
      expect(asked()).toBe(one.exchanges.length);
      if (one.failure === undefined) expect(result).toEqual({ ok: true, output: one.output });
      else expect(result).toMatchObject({ ok: false, failure: one.failure });
    },
  );

  it("has a case for each action", () => {
    const covered = new Set(cases.cases.map(({ action }) => action));
    expect(provider.actions.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual(
      [],
    );
  });

  it("has a case of several pages for each list", () => {
    const paged = cases.cases.filter(({ exchanges }) => exchanges.length > 1);
    const covered = new Set(paged.map(({ action }) => action));
    const lists = provider.actions.filter(({ paging }) => paging !== undefined);
    expect(lists.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
  });

  it("has a case of a failure", () => {
    expect(cases.cases.some(({ failure }) => failure !== undefined)).toBe(true);
  });
});

it("has cases for every provider that has actions", () => {
  const covered = new Set(PROVIDER_CASES.map(({ provider }) => provider));
  const acting = PROVIDERS.filter(({ actions }) => actions.length > 0);
  expect(acting.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
});

describe("manifests", () => {
  it.each(PROVIDERS)("$id: each action's example passes its own checks", ({ actions }) => {
    for (const action of actions) {
      expect({ [action.name]: checkInputs(action, action.example) }).toEqual({ [action.name]: [] });
    }
  });
});
