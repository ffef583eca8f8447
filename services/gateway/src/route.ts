import type { AuditAction } from "@workflow/audit";
import { invalidRequest } from "@workflow/errors";
import { z } from "zod";
import type { Scope } from "./domain/scopes.ts";
import { explainIssue, toViolations } from "./errors/violations.ts";
import { findLongList, listPlacesOf } from "./http/long-lists.ts";
import type { ContentType, SuccessStatus } from "./reply.ts";
import type { OpenContext, RouteContext, SessionContext } from "./route-context.ts";
import type { AuditDeclaration, Declaration, UploadDeclaration } from "./route-declaration.ts";
import type {
  OpenRoute,
  RouteFacts,
  ScopedRoute,
  Served,
  SessionRoute,
} from "./route-table-entry.ts";

/** 1 MiB (D4). */
const BODY_BYTES_MAX = 1024 * 1024;
const JSON_ONLY: readonly ContentType[] = ["application/json"];

/** For routes without query parameters; unknown ones are ignored. */
export const NO_QUERY = z.object({});
/** For routes without body fields; a JSON object may be sent, an empty body as well. */
export const NO_BODY = { schema: z.object({}), optional: true };

/** Declares a route for callers with a scope. A declaration without a scope does not compile. */
export function route<
  const Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
>({
  scope,
  ...declaration
}: Declaration<RouteContext, Path, QuerySchema, BodySchema, Status> & {
  scope: Scope;
}): ScopedRoute {
  return { ...toRoute(declaration), scope };
}

/**
 * Declares a route for signed-in persons, about themselves or, with a scope of their role, about their
 * company. An API key gets 403.
 */
export function sessionRoute<
  const Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
>({
  roleScope,
  ...declaration
}: Declaration<SessionContext, Path, QuerySchema, BodySchema, Status> & {
  roleScope?: Scope;
}): SessionRoute {
  return { ...toRoute(declaration), scope: "session", roleScope: roleScope ?? null };
}

/**
 * Declares a route for callers with a scope whose handler receives the body itself, because the body is
 * large or no JSON.
 */
export function uploadRoute<
  const Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  Status extends SuccessStatus,
>({
  scope,
  handler,
  query,
  body,
  audit,
  ...rest
}: UploadDeclaration<Path, QuerySchema, Status>): ScopedRoute {
  return {
    contentTypes: JSON_ONLY,
    errors: [],
    redirects: null,
    requestHeaders: [],
    hasLongQuery: false,
    isSingle: false,
    endsWithClient: rest.method === "GET",
    ownPagesOnly: false,
    ...rest,
    scope,
    audit: toActions(audit ?? null),
    query,
    body: { optional: false, ...body, isUpload: true },
    async run(context, { params, query: given, upload }) {
      if (upload === null) throw new Error("An upload came without its body.");
      const checked = query.safeParse(given, { error: explainIssue });
      if (!checked.success) throw invalidRequest(toViolations(checked.error));
      return handler(context, { params, query: checked.data, upload });
    },
  };
}

/** Declares a route that needs no credential. */
export function openRoute<
  const Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
>({
  admit,
  ...declaration
}: Declaration<OpenContext, Path, QuerySchema, BodySchema, Status> & {
  admit?: (context: OpenContext) => Promise<void>;
}): OpenRoute {
  return { ...toRoute(declaration), scope: "everybody", admit: admit ?? null };
}

function toRoute<
  Context extends OpenContext,
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
>(
  declaration: Declaration<Context, Path, QuerySchema, BodySchema, Status>,
): RouteFacts & Served<Context> {
  const { handler, query, body, audit, ...rest } = declaration;
  const lists = listPlacesOf(body.schema);
  return {
    contentTypes: JSON_ONLY,
    errors: [],
    redirects: null,
    requestHeaders: [],
    hasLongQuery: false,
    isSingle: rest.method === "GET" && rest.path.endsWith("}"),
    endsWithClient: rest.method === "GET",
    ownPagesOnly: false,
    ...rest,
    audit: toActions(audit ?? null),
    query,
    body: { optional: false, bytesMax: BODY_BYTES_MAX, ...body, isUpload: false },
    async run(context, input) {
      const longList = findLongList(input.body.value, lists);
      if (longList !== null) throw invalidRequest([longList]);
      const checkedQuery = query.safeParse(input.query, { error: explainIssue });
      const checkedBody = body.schema.safeParse(input.body.value, { error: explainIssue });
      if (!checkedQuery.success || !checkedBody.success) {
        throw invalidRequest([
          ...(checkedQuery.error === undefined ? [] : toViolations(checkedQuery.error)),
          ...(checkedBody.error === undefined ? [] : toViolations(checkedBody.error)),
        ]);
      }
      return handler(context, {
        params: input.params,
        query: checkedQuery.data,
        body: checkedBody.data,
        rawJson: (member) => input.body.members.get(member),
      });
    },
  };
}

function toActions(audit: AuditDeclaration): readonly AuditAction[] {
  if (audit === null) return [];
  return typeof audit === "string" ? [audit] : audit;
}
