import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { PROVIDERS } from "@workflow/catalog";
import { z } from "zod";
import { bySession, signIn } from "../support/people.ts";
import { createWorkflow, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** The contract's table of block metadata, and nothing else. */
const conditionSchema: z.ZodType = z.lazy(() =>
  z.strictObject({
    field: z.string(),
    value: z.union([z.string().min(1), z.number(), z.boolean(), z.array(z.string().min(1)).min(1)]),
    not: z.boolean().optional(),
    and: conditionSchema.optional(),
  }),
);
const blockSchema = z.strictObject({
  type: z.string(),
  name: z.string(),
  description: z.string(),
  kind: z.enum(["core", "integrations", "triggers"]),
  category: z.string().optional(),
  connectionRequired: z.boolean(),
  actions: z.array(z.string()),
  inputs: z.array(
    z.strictObject({
      key: z.string(),
      type: z.enum(["string", "number", "boolean", "json", "array", "file"]),
      description: z.string().optional(),
      schema: z.looseObject({}).optional(),
    }),
  ),
  outputs: z.array(z.string()),
  subBlocks: z.array(
    z.strictObject({
      id: z.string(),
      type: z.string(),
      title: z.string().optional(),
      required: z.boolean().optional(),
      requiredWhen: conditionSchema.optional(),
      visibleWhen: conditionSchema.optional(),
      options: z.array(z.strictObject({ id: z.string(), label: z.string() })).optional(),
    }),
  ),
  links: z.strictObject({ self: z.string(), collection: z.string() }),
});
const blocksSchema = z.array(blockSchema);

const get = (path: string, headers: Record<string, string> = {}) =>
  system.call("GET", path, { headers });

describe("GET /blocks", () => {
  it("gives all blocks at once, in the form of the contract, without pages", async () => {
    const answer = await get("/blocks");
    expect(answer.status).toBe(200);
    const blocks = blocksSchema.parse(answer.data);
    expect(new Set(blocks.map(({ kind }) => kind))).toEqual(
      new Set(["core", "integrations", "triggers"]),
    );
    expect(blocks.map(({ type }) => type)).not.toContain("action");
    expect(Object.keys(Object(JSON.parse(answer.text)))).toEqual(["success", "data"]);
  });

  it("has each action in one block, that of its id's first part, and none in a trigger", async () => {
    const blocks = blocksSchema.parse((await get("/blocks")).data);
    const actions = blocks.flatMap(({ type, actions: ids }) => ids.map((id) => ({ type, id })));
    expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
    expect(actions.filter(({ type, id }) => !id.startsWith(`${type}.`))).toEqual([]);
    expect(blocks.filter((block) => block.kind === "triggers" && block.actions.length > 0)).toEqual(
      [],
    );
  });

  it("says that integrations and providers' triggers need a connection, and nothing else", async () => {
    const blocks = blocksSchema.parse((await get("/blocks")).data);
    const own = new Set(["api", "manual", "schedule", "table-trigger", "webhook"]);
    for (const { type, kind, connectionRequired } of blocks) {
      const isOurs = kind === "core" || own.has(type);
      expect({ type, connectionRequired }).toEqual({ type, connectionRequired: !isOurs });
    }
  });

  it("wants the scope workflows:read, and no other", async () => {
    const reader = await system.createKey(system.acme, ["workflows:read"]);
    const other = await system.createKey(system.acme, ["workflows:write", "runs:read"]);
    for (const path of ["/blocks", "/blocks/http"]) {
      expect(await system.call("GET", path, { key: reader })).toMatchObject({ status: 200 });
      expect(await system.call("GET", path, { key: other })).toMatchObject({
        status: 403,
        error: { code: "FORBIDDEN" },
      });
    }
  });

  it("gives those of a kind, which are all together the whole", async () => {
    const all = blocksSchema.parse((await get("/blocks")).data);
    for (const kind of ["core", "integrations", "triggers"] as const) {
      const { data } = await get(`/blocks?kind=${kind}&other=1`);
      expect(data).toEqual(all.filter((block) => block.kind === kind));
      expect(data).not.toEqual([]);
    }
  });

  it.each(["?kind=", "?kind=CORE", "?kind=trigger", "?kind=core&kind=triggers", "?kind[]=core"])(
    "answers 400 that names the parameter: %s",
    async (query) => {
      expect(await get(`/blocks${query}`)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: [expect.stringMatching(/^kind/)] }] },
      });
    },
  );

  it("answers every company and viewer the same, to the byte", async () => {
    const viewer = await system.createPerson(system.globex, "viewer");
    const session = bySession(system, await signIn(system, viewer));
    const answers = [
      await get("/blocks"),
      await system.call("GET", "/blocks", { key: system.globex.key }),
      await system.call("GET", "/blocks", session),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (const { id, name, key } of [system.acme, system.globex]) {
      expect(answers[0]?.text).not.toContain(id);
      expect(answers[0]?.text).not.toContain(name);
      expect(answers[0]?.text).not.toContain(key);
    }
  });
});

describe("GET /blocks/{type}", () => {
  it("gives each block of the list, at the address that its link says", async () => {
    for (const block of blocksSchema.parse((await get("/blocks")).data)) {
      expect(block.links.collection).toBe("/api/v1/blocks");
      const path = block.links.self.replace("/api/v1", "");
      expect(await get(path)).toMatchObject({ status: 200, data: block });
    }
  });

  it.each([
    "nope",
    "action",
    "HTTP",
    "__proto__",
    "constructor",
    "http.request",
    "http%2Frequest",
    "%2E%2E",
    "%F0%9F%A6%89",
    " http",
    "a".repeat(500),
  ])("answers 404 for what is none, or hidden: %s", async (type) => {
    expect(await get(`/blocks/${type}`)).toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND" },
    });
  });
});

/** Headers that say something of a body, or how it is sent. */
const OF_THE_BODY: ReadonlySet<string> = new Set(["transfer-encoding", "x-content-type-options"]);

describe("both", () => {
  it.each(["/blocks", "/blocks?kind=core", "/blocks/http"])(
    "%s has an ETag that stays, and answers 304 to it",
    async (path) => {
      // As it is: each packing has a tag of its own.
      const plain = { "accept-encoding": "identity" };
      const first = await system.call("GET", path, { headers: plain });
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      const second = await system.call("GET", path, { headers: plain });
      expect(second.headers.get("etag")).toBe(etag);
      for (const header of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const headers = { ...plain, "x-api-key": system.acme.key, "if-none-match": header };
        const again = await fetch(`${system.origin}/api/v1${path}`, { headers });
        expect(again.status).toBe(304);
        expect(await again.text()).toBe("");
        // `*` names no form of the answer, so the tag is the resource's own.
        if (header !== "*") expect(again.headers.get("etag")).toBe(etag);
        expect(again.headers.get("link")).toBe(first.headers.get("link"));
        expect(again.headers.get("link")).toContain("api-catalog");
        // Whatever goes with an answer that is not about its body, such as the limits of the key.
        const kept = [...first.headers.keys()].filter((name) => !name.startsWith("content-"));
        expect([...again.headers.keys()]).toEqual(
          expect.arrayContaining(kept.filter((name) => !OF_THE_BODY.has(name))),
        );
      }
      expect(await get(path, { "if-none-match": '"other"' })).toMatchObject({ status: 200 });
      const head = await system.call("HEAD", path, { headers: plain });
      expect(head).toMatchObject({ status: 200, text: "" });
      expect(head.headers.get("etag")).toBe(etag);
    },
  );

  it.each(["POST", "PUT", "PATCH", "DELETE"])("answer 405 to %s", async (method) => {
    for (const path of ["/blocks", "/blocks/http"]) {
      const answer = await system.call(method, path);
      expect(answer).toMatchObject({ status: 405, error: { code: "METHOD_NOT_ALLOWED" } });
      expect(answer.headers.get("allow")).toContain("GET");
    }
  });
});

const callable = PROVIDERS.filter(({ actions }) => actions.length > 0);

/** A step of each action of a provider. */
function stepsOf(
  { id, actions }: (typeof PROVIDERS)[number],
  configOf: (action: (typeof actions)[number]) => object,
): object[] {
  return actions.map((action) => ({
    id: action.name,
    type: "action",
    name: action.title,
    action: `${id}.${action.name}`,
    config: configOf(action),
  }));
}

describe("workflows with actions of the catalog", () => {
  it.each(callable)("activate with the examples: $id", async (provider) => {
    const steps = stepsOf(provider, ({ example }) => example);
    const { id } = await createWorkflow(system, { steps });
    expect(await system.call("POST", `/workflows/${id}/activate`)).toMatchObject({
      status: 200,
      data: { status: "active" },
    });
  });

  it.each(callable)(
    "are refused by the path of each input that is missing: $id",
    async (provider) => {
      const steps = stepsOf(provider, () => ({}));
      const needed = provider.actions.flatMap(({ inputs }, index) =>
        inputs
          .filter(({ required, visibleWhen }) => required === true && visibleWhen === undefined)
          .map(({ key }) => ({ path: ["steps", String(index), "config", key] })),
      );
      expect(needed).not.toEqual([]);
      const answer = await system.call("POST", "/workflows", { body: workflowBody({ steps }) });
      expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
      // An answer lists 50 at most.
      const details = z
        .array(z.looseObject({ path: z.array(z.string()) }))
        .parse(answer.error?.details);
      const places = details.map(({ path }) => path.join("."));
      expect(places).toEqual(
        expect.arrayContaining(needed.map(({ path }) => path.join(".")).slice(0, 25)),
      );
    },
  );

  it("are refused by the path of an input that others make necessary, and by a label", async () => {
    const configs = [{ amount: 5 }, { charge: "ch_1", amount: 5 }, { charge: "{{input.charge}}" }];
    const refunds = configs.map((config, index) => ({
      id: `s${index}`,
      type: "action",
      name: "Refund",
      action: "stripe.createRefund",
      config,
    }));
    const report = { reportType: "Balance Sheet" };
    const inLoop = {
      id: "each",
      type: "loop",
      name: "Each",
      config: {
        count: 1,
        steps: [
          {
            id: "report",
            type: "action",
            name: "Report",
            action: "quickbooks.runReport",
            config: report,
          },
        ],
      },
    };
    const steps = [...refunds, inLoop];
    const answer = await system.call("POST", "/workflows", { body: workflowBody({ steps }) });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    expect(answer.error?.details).toEqual([
      {
        path: ["steps", "0", "config", "payment_intent"],
        message: "is required, since charge is not given",
      },
      {
        path: ["steps", "3", "config", "steps", "0", "config", "reportType"],
        message: expect.stringContaining(`must be the option's id "BalanceSheet", not its label`),
      },
    ]);
  });

  it("are planned with the same problems", async () => {
    const refund = (config: object) => ({
      id: "refund",
      type: "action",
      name: "Refund",
      action: "stripe.createRefund",
      config: { charge: "ch_1", ...config },
    });
    const { id } = await createWorkflow(system, {
      steps: [refund({ amount: "{{input.amount}}" })],
    });
    const plan = (amount: unknown) =>
      system.call("POST", `/workflows/${id}/plan`, { body: { input: { amount } } });
    expect(await plan(500)).toMatchObject({ data: { valid: true, problems: [] } });
    expect(await plan(-5)).toMatchObject({
      data: {
        valid: false,
        problems: [
          {
            path: ["steps", "0", "config", "amount"],
            message: expect.stringContaining("must be at least 1"),
          },
        ],
      },
    });
  });
});
