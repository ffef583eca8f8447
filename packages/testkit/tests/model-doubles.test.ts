import { afterEach, describe, expect, it } from "@jest/globals";
import { startAnthropicDouble, startOpenAiDouble, waitFor } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";

const started: ModelDouble[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((double) => double.close()));
});

/** A question in the form that one API has it, and an answer's text. */
interface Api {
  readonly start: () => Promise<ModelDouble>;
  readonly path: string;
  readonly headers: (double: ModelDouble) => Record<string, string>;
  readonly body: Record<string, unknown>;
  readonly withSchema: (schema: unknown) => Record<string, unknown>;
}

const bearer = ({ key }: ModelDouble): Record<string, string> => ({
  authorization: `Bearer ${key}`,
});

const APIS: Readonly<Record<string, Api>> = {
  responses: {
    start: startOpenAiDouble,
    path: "/responses",
    headers: bearer,
    body: { model: "gpt-4.1", input: [{ role: "user", content: "Hi" }] },
    withSchema: (schema) => ({
      text: { format: { type: "json_schema", name: "answer", strict: true, schema } },
    }),
  },
  chat: {
    start: startOpenAiDouble,
    path: "/chat/completions",
    headers: bearer,
    body: { model: "gpt-4.1", messages: [{ role: "user", content: "Hi" }] },
    withSchema: (schema) => ({
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema },
      },
    }),
  },
  messages: {
    start: startAnthropicDouble,
    path: "/v1/messages",
    headers: ({ key }) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    body: {
      model: "claude-sonnet-4-6",
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi" }],
    },
    withSchema: (schema) => ({ output_config: { format: { type: "json_schema", schema } } }),
  },
};

const NAMES = Object.keys(APIS);

async function start(name: string): Promise<{
  double: ModelDouble;
  api: Api;
  post: (
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; text: string }>;
}> {
  const api = APIS[name];
  if (api === undefined) throw new Error(`There is no API ${name}`);
  const double = await api.start();
  started.push(double);
  return {
    double,
    api,
    post: async (body, headers = api.headers(double)) => {
      const response = await fetch(`${double.baseUrl}${api.path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

describe.each(NAMES)("the double of %s", (name) => {
  it("gives the answers of its script first, and counts tokens", async () => {
    const { double, api, post } = await start(name);
    double.script.push("One.");
    double.reply = ({ messages }) => `You said ${messages[0]?.text}.`;
    const answers = [await post(api.body), await post(api.body)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.text).toContain('"One."');
    expect(answers[1]?.text).toContain('"You said Hi."');
    expect(answers[0]?.text).toMatch(/"(?:completion|output)_tokens":1/);
    expect(double.asked).toHaveLength(2);
  });

  it("takes its own key only, and keeps what was refused apart", async () => {
    const { double, api, post } = await start(name);
    const { status } = await post(api.body, { authorization: "Bearer no", "x-api-key": "no" });
    expect(status).toBe(401);
    expect([double.asked.length, double.requests.length]).toEqual([0, 1]);
  });

  it("knows its models", async () => {
    const { api, post } = await start(name);
    const answer = await post({ ...api.body, model: "none-such" });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain("none-such");
  });

  it.each([
    ["a temperature out of range", { temperature: 2.5 }],
    ["a limit of no tokens", { max_tokens: 0, max_output_tokens: 0 }],
    ["an empty conversation", { messages: [], input: [] }],
  ])("refuses %s", async (_what, more) => {
    const { api, post } = await start(name);
    expect(await post({ ...api.body, ...more })).toMatchObject({ status: 400 });
  });

  it("refuses schemas that leave an object open", async () => {
    const { api, post } = await start(name);
    const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
    const open = {
      ...closed,
      properties: { a: { type: "object", properties: {} } },
      required: ["a"],
    };
    expect(await post({ ...api.body, ...api.withSchema(closed) })).toMatchObject({ status: 200 });
    const refused = await post({ ...api.body, ...api.withSchema(open) });
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.text).toContain("additionalProperties");
  });

  it("says that a caller hung up", async () => {
    const { double, api } = await start(name);
    const stop = new AbortController();
    double.reply = () => {
      stop.abort();
      return { trouble: "hangs" };
    };
    const asking = fetch(`${double.baseUrl}${api.path}`, {
      method: "POST",
      headers: api.headers(double),
      body: JSON.stringify(api.body),
      signal: stop.signal,
    });
    await expect(asking).rejects.toThrow();
    await waitFor(() => double.asked[0]?.hungUp);
  });
});

it("OpenAI's strict mode wants every property to be required", async () => {
  const { api, post } = await start("chat");
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    additionalProperties: false,
  };
  const refused = await post({ ...api.body, ...api.withSchema(schema) });
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.text).toContain("Missing 'a'");
});

it("a reasoning model of OpenAI takes a temperature only without reasoning", async () => {
  const { api, post } = await start("chat");
  const asked = { ...api.body, model: "gpt-6.1-terra", temperature: 1 };
  expect(await post(asked)).toMatchObject({ status: 400 });
  expect(await post({ ...asked, reasoning_effort: "none" })).toMatchObject({ status: 200 });
  expect(await post({ ...asked, model: "gpt-6.1-sol" })).toMatchObject({ status: 400 });
});

it("a route that was left out is unknown", async () => {
  const double = await startOpenAiDouble({ chat: false });
  started.push(double);
  const response = await fetch(`${double.baseUrl}/chat/completions`, {
    method: "POST",
    headers: bearer(double),
    body: "{}",
  });
  expect(response.status).toBe(404);
});
