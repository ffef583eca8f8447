import { AppError, toAppError } from "@workflow/errors";
import express from "express";
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import { CONNECT_BASE, serveConnectPage } from "./connect-page/serve-connect-page.ts";
import type { ConnectPageOptions } from "./connect-page/serve-connect-page.ts";
import { API_CATALOG_PATH, serveApiCatalog } from "./docs/api-catalog.ts";
import { API_REFERENCE_PATH, DOCS_BASE } from "./docs/docs-files.ts";
import { serveDocs } from "./docs/serve-docs.ts";
import type { Readiness } from "./health.ts";
import type { AddressLimits } from "./http/address-limits.ts";
import { credentialsOf } from "./http/admission.ts";
import { checkHeadSize } from "./http/head-size.ts";
import { serveRoute } from "./http/pipeline.ts";
import type { PipelineDependencies } from "./http/pipeline.ts";
import { allowedMethods, findRoute, RouteTable } from "./http/route-table.ts";
import { answerOptions, forReading, wrongMethod } from "./http/methods.ts";
import { afterAnswer, beginRequest, requestInfoOf } from "./http/request-info.ts";
import type { RequestSettings } from "./http/request-info.ts";
import { sendError, sendSuccess } from "./http/respond.ts";
import { createPlainErrorHandler } from "./inbound/plain-error.ts";
import { INBOUND_BASE } from "./http/inbound-base.ts";
import { serveDescription } from "./openapi/serve-description.ts";
import { MCP_PATH } from "./mcp/serve-mcp.ts";
import type { RequestReport } from "./request-report.ts";
import type { Route } from "./route-table-entry.ts";

/** The path of the API. */
export const API_BASE = "/api/v1";

const DESCRIPTION_PATH = `${API_BASE}/openapi.json`;

/** The targets of the references and the catalog. */
const DOCUMENTED = {
  apiBase: API_BASE,
  descriptionPath: DESCRIPTION_PATH,
  docsPaths: [DOCS_BASE, API_REFERENCE_PATH],
  statusPath: "/readyz",
};

export interface AppOptions extends PipelineDependencies {
  routes: readonly Route[];
  readiness: Readiness;
  report: RequestReport;
  requests: RequestSettings;
  connectPage: Omit<ConnectPageOptions, "apiBase">;
  /** The limit of one client's requests for the references, per minute. */
  docsLimits: AddressLimits;
  /** Answers inbound webhooks. */
  inbound: RequestHandler;
  /** Answers AI clients. */
  mcp: RequestHandler;
}

/** The Express application: health, the routes of the table, and one envelope for all errors. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.enable("case sensitive routing");
  app.use(begin(options));
  // Express tries handlers in order, and the routes of the table serve most requests.
  app.use(serveTable(options));
  app.all(
    "/livez",
    forReading((_request, response) => sendSuccess(response, 200, { status: "ok" })),
  );
  app.all("/readyz", forReading(answerReadiness(options.readiness)));
  app.all(DESCRIPTION_PATH, serveDescription({ limits: options.docsLimits, ...DOCUMENTED }));
  app.all(API_CATALOG_PATH, serveApiCatalog({ publicUrl: options.publicUrl, ...DOCUMENTED }));
  app.use(DOCS_BASE, serveDocs({ limits: options.docsLimits, ...DOCUMENTED }));
  app.all(MCP_PATH, options.mcp);
  app.use(INBOUND_BASE, options.inbound);
  app.use(CONNECT_BASE, serveConnectPage({ ...options.connectPage, apiBase: API_BASE }));
  app.use(() => {
    throw new AppError("NOT_FOUND", "Route not found");
  });
  app.use(INBOUND_BASE, createPlainErrorHandler());
  app.use(createErrorHandler(options));
  return app;
}

function begin({ report, requests }: AppOptions): RequestHandler {
  return (request, response, next) => {
    const info = beginRequest(request, response, requests);
    afterAnswer(response, () => report(info, request, response));
    if (request.headers.host === undefined && request.httpVersion === "1.1") {
      throw new AppError("BAD_REQUEST", "The Host header is required.");
    }
    next();
  };
}

function answerReadiness(readiness: Readiness): RequestHandler {
  return async (_request, response) => {
    const missing = await readiness.missing();
    if (missing.length > 0) {
      throw new AppError("UNAVAILABLE", "The service is not ready.", { details: { missing } });
    }
    sendSuccess(response, 200, { status: "ok" });
  };
}

/** Serves the routes of the table; other paths go to the next handler. */
function serveTable(options: AppOptions): RequestHandler {
  const table = new RouteTable(options.routes);
  return async (request, response, next) => {
    const path = request.path;
    if (!path.startsWith(`${API_BASE}/`)) return next();
    const match = table.find(path.slice(API_BASE.length));
    if (match === null) return next();
    const { methods, params } = match;
    const route = findRoute(methods, request.method);
    if (request.method === "OPTIONS") return answerOptions(response, allowedMethods(methods));
    if (route === undefined) throw wrongMethod(response, allowedMethods(methods));
    checkHeadSize(request, route.hasLongQuery);
    await serveRoute(route, params, { request, response }, options);
  };
}

function createErrorHandler({
  authenticator,
  rateLimits,
}: PipelineDependencies): ErrorRequestHandler {
  // Express tells error handlers by their four parameters.
  return async (thrown: unknown, request: Request, response: Response, _next: unknown) => {
    const info = requestInfoOf(request);
    let error = toAppError(thrown);
    if (isUndecodablePath(thrown)) {
      // The router fails before the route is known; 401 and 429 still come before 400 (D2).
      const bucket = request.method === "GET" || request.method === "HEAD" ? "read" : "write";
      error = await authenticator
        .authenticate(credentialsOf(request))
        .then((caller) => rateLimits.admit(caller, bucket, response))
        .then(
          () =>
            new AppError("BAD_REQUEST", "The path must be percent-encoded UTF-8.", {
              violations: [{ path: ["path"], message: "must be percent-encoded UTF-8" }],
            }),
          toAppError,
        );
    }
    sendError(response, info, error);
  };
}

function isUndecodablePath(thrown: unknown): boolean {
  return thrown instanceof URIError;
}
