import { AppError, toAppError } from "@workflow/errors";
import express from "express";
import type {
  ErrorRequestHandler,
  Express,
  Request,
  RequestHandler,
  Response,
  Router,
} from "express";
import type { Readiness } from "./health.ts";
import { credentialsOf } from "./http/admission.ts";
import { serveRoute } from "./http/pipeline.ts";
import type { PipelineDependencies } from "./http/pipeline.ts";
import { beginRequest, requestInfoOf } from "./http/request-info.ts";
import { sendError, sendSuccess } from "./http/respond.ts";
import type { RequestReport } from "./request-report.ts";
import type { Method, Route } from "./route.ts";

/** Where the API is mounted. */
export const API_BASE = "/api/v1";

export interface AppOptions extends PipelineDependencies {
  routes: readonly Route[];
  readiness: Readiness;
  report: RequestReport;
  /** Reverse proxies in front of the gateway whose X-Forwarded-For is believed. */
  trustedProxies: number;
}

/** The Express application: health, the routes of the table, and one envelope for all errors. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.enable("case sensitive routing");
  app.use(begin(options));
  app.get("/livez", (_request, response) => sendSuccess(response, 200, { status: "ok" }));
  app.get("/readyz", answerReadiness(options.readiness));
  app.use(API_BASE, createApiRouter(options));
  app.use(() => {
    throw new AppError("NOT_FOUND", "Route not found");
  });
  app.use(createErrorHandler(options));
  return app;
}

function begin({ report, trustedProxies }: AppOptions): RequestHandler {
  return (request, response, next) => {
    const info = beginRequest(request, response, trustedProxies);
    response.once("close", () => report(info, request, response));
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

/** One Express route a path; which methods it has is looked up in the table. */
function createApiRouter(options: AppOptions): Router {
  const router = express.Router({ caseSensitive: true });
  for (const [path, methods] of groupByPath(options.routes)) {
    const allowed = [...methods.keys()].flatMap((method) =>
      method === "GET" ? ["GET", "HEAD"] : [method],
    );
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    router.all(toExpressPath(path), async (request, response) => {
      const route = methods.get(request.method === "HEAD" ? "GET" : request.method);
      if (route === undefined) {
        response.setHeader("Allow", allowed.join(", "));
        throw new AppError("METHOD_NOT_ALLOWED", `Use ${allowed.join(", ")} here.`);
      }
      await serveRoute(route, pathParams(request, names), request, response, options);
    });
  }
  return router;
}

function groupByPath(routes: readonly Route[]): [string, Map<string, Route>][] {
  const groups = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = groups.get(route.path) ?? new Map<Method, Route>();
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is there twice.`);
    groups.set(route.path, methods.set(route.method, route));
  }
  // A fixed segment goes before a parameter in the same place.
  const rank = (path: string): string => path.replaceAll("{", "\uffff");
  return [...groups].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
}

/** Braces mean optional groups to Express. */
function toExpressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function pathParams(request: Request, names: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const name of names) {
    const value = request.params[name];
    if (typeof value === "string") params[name] = value;
  }
  return params;
}

function createErrorHandler({ authenticator }: PipelineDependencies): ErrorRequestHandler {
  // Express tells error handlers by their four parameters.
  return async (thrown: unknown, request: Request, response: Response, _next: unknown) => {
    const info = requestInfoOf(request);
    let error = toAppError(thrown);
    if (isUndecodablePath(thrown)) {
      // The router fails before the route is known; 401 comes before 400 all the same (D2).
      error = await authenticator.authenticate(credentialsOf(request)).then(
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
