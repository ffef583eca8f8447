import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createApp } from "../src/app.ts";
import type { AppOptions } from "../src/app.ts";
import { AnswerHeaders } from "../src/http/answer-headers.ts";
import { Compressor } from "../src/http/compression.ts";
import { createProxyTrust } from "../src/http/trusted-proxies.ts";
import { NO_BODY, NO_QUERY, route } from "../src/route.ts";

const plain = {
  method: "GET",
  bucket: "read",
  summary: "A route",
  description: ["It is declared, and nobody calls it."],
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "Done.", data: z.null() } },
} as const;
const reply = async () => ({ status: 200, data: null }) as const;

describe("a route declaration", () => {
  it("does not compile without a scope, with an unknown one, or with undescribed parameters or answers", () => {
    // @ts-expect-error no scope
    route({ ...plain, path: "/things", params: {}, handler: reply });
    // @ts-expect-error no such scope
    route({ ...plain, path: "/things", scope: "things:read", params: {}, handler: reply });
    const unsafe = { ...plain, method: "POST", path: "/things", scope: "runs:read" } as const;
    // @ts-expect-error it does not say what it leaves in the audit log
    route({ ...unsafe, params: {}, handler: reply });
    expect(route({ ...unsafe, audit: null, params: {}, handler: reply }).audit).toEqual([]);
    const made = route({ ...unsafe, audit: "thing.made", params: {}, handler: reply });
    expect(made.audit).toEqual(["thing.made"]);
    // @ts-expect-error the parameter is not described
    route({ ...plain, path: "/things/{id}", scope: "runs:read", params: {}, handler: reply });
    const undescribed = { ...plain, responses: { 200: "Done." } } as const;
    // @ts-expect-error nobody says what the answer is
    route({ ...undescribed, path: "/things", scope: "runs:read", params: {}, handler: reply });
    // @ts-expect-error a status that is not declared
    route({
      ...plain,
      path: "/things",
      scope: "runs:read",
      params: {},
      handler: async () => ({ status: 202, data: null }),
    });
    expect(
      route({ ...plain, path: "/things", scope: "runs:read", params: {}, handler: reply }),
    ).toMatchObject({
      path: "/things",
      scope: "runs:read",
    });
  });

  it("is refused at the start when method and path are taken", () => {
    const once = route({
      ...plain,
      path: "/things",
      scope: "runs:read",
      params: {},
      handler: reply,
    });
    const options: AppOptions = {
      routes: [once, once],
      authenticator: { authenticate: () => Promise.reject(new Error("not called")) },
      rateLimits: { admit: () => {}, admitInbound: () => {} },
      backends: Object.create(null),
      connections: { claim: () => {} },
      database: Object.create(null),
      invalidateAccess: () => {},
      signIns: Object.create(null),
      cursors: Object.create(null),
      largeAnswers: Object.create(null),
      requests: {
        proxies: createProxyTrust(0),
        answerHeaders: new AnswerHeaders([]),
        compressor: new Compressor(),
      },
      publicUrl: undefined,
      callbacks: { admit: () => {} },
      connectPage: { authorizations: Object.create(null), limits: { admit: () => {} } },
      docsLimits: { admit: () => {} },
      inbound: (_request, _response, next) => next(),
      mcp: (_request, _response, next) => next(),
      stopping: new AbortController().signal,
      readiness: { missing: async () => [], setStopping: () => {} },
      report: () => {},
    };
    expect(() => createApp(options)).toThrow("GET /things");
  });
});
