import type { IncomingHttpHeaders } from "node:http";
import type { CursorCodec, Database } from "@workflow/db";
import type { AuditAction } from "@workflow/events";
import type { ClientFacts, Identity, RpcCallOptions, RpcClient } from "@workflow/rpc";
import type { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import type { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import type { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import type { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import type { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import type { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import type { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import type { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import type { EndpointsServiceService } from "@workflow/proto/webhooks/v1/endpoints";
import type { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import type { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import type { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import type { Reason } from "@workflow/errors";
import { z } from "zod";
import type { Session } from "./auth/caller.ts";
import type { IdentityChange } from "./auth/identity-change.ts";
import type { Bucket } from "./rate-limits/bucket.ts";
import type { AuditReader } from "./audit/audit-reader.ts";
import type { Scope } from "./auth/scopes.ts";
import { invalidRequest } from "./errors/invalid-request.ts";
import { explainIssue, toViolations } from "./errors/violations.ts";
import type { AddressLimits } from "./http/address-limits.ts";
import type { JsonBody } from "./http/json-body.ts";
import { findLongList, listPlacesOf } from "./http/long-lists.ts";
import type { Query } from "./http/parse-query.ts";
import type { Upload } from "./http/upload.ts";
import type { SignInGuard } from "./identity/sign-in-guard.ts";
import type { TableImporter } from "./imports/table-importer.ts";
import type {
  ContentType,
  EventStream,
  FileReply,
  LongReply,
  RedirectReply,
  Reply,
  SuccessStatus,
} from "./reply.ts";
import type { AnswerTurns } from "@workflow/service";
import type { RowBatcher } from "./row-batcher.ts";
import type { StartBatcher } from "./start-batcher.ts";

/** The services behind the gateway. */
export interface Backends {
  readonly workflows: RpcClient<WorkflowsServiceService>;
  readonly runs: RpcClient<RunsServiceService>;
  readonly approvals: RpcClient<ApprovalsServiceService>;
  readonly schedules: RpcClient<SchedulesServiceService>;
  readonly runStats: RpcClient<RunStatsServiceService>;
  readonly dashboards: RpcClient<DashboardsServiceService>;
  readonly tables: RpcClient<TablesServiceService>;
  readonly rows: RpcClient<RowsServiceService>;
  readonly secrets: RpcClient<SecretsServiceService>;
  readonly actions: RpcClient<ActionsServiceService>;
  readonly authorizations: RpcClient<AuthorizationsServiceService>;
  readonly connections: RpcClient<ConnectionsServiceService>;
  readonly agents: RpcClient<AgentsServiceService>;
  readonly inboundEvents: RpcClient<InboundEventsServiceService>;
  readonly webhookEndpoints: RpcClient<EndpointsServiceService>;
  /** Starts runs, those that come together in one call. */
  readonly starts: StartBatcher;
  /** Adds single rows to tables. */
  readonly rowInserts: RowBatcher;
  /** Makes tables from files. */
  readonly imports: TableImporter;
  readonly auditLog: AuditReader;
}

/** What every handler knows of the request, beside its input. */
export interface OpenContext {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** Who sends it, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** Whether it has come by https. */
  readonly isSecure: boolean;
  /** Where people and providers reach this gateway. */
  readonly publicOrigin: () => string;
  /** Attempts to connect accounts; other calls of services need a known caller. */
  readonly authorizations: RpcClient<AuthorizationsServiceService>;
  /** For those calls, in the gateway's own name. */
  readonly serviceCall: RpcCallOptions;
  /** How often one client may come back from providers. */
  readonly callbacks: AddressLimits;
  /** The gateway's own database. */
  readonly database: Database;
  /** To be called after a change of access was committed: this gateway forgets what it remembers. */
  readonly forget: (change: IdentityChange) => void;
  /** Slows down those who guess passwords. */
  readonly signIns: SignInGuard;
  /** Makes and reads the cursors of the gateway's own lists. */
  readonly cursors: CursorCodec;
  /** Bounds the large answers that are held until their clients have taken them. */
  readonly largeAnswers: AnswerTurns;
}

/** What a handler knows of a request whose sender is known. */
export interface RouteContext extends Backends, OpenContext {
  readonly identity: Identity;
  /** The signed-in person; null for a caller with an API key. */
  readonly session: Session | null;
  /**
   * For calls of services on the caller's behalf: identity, request id, trace. Reads are cancelled
   * when the client goes away, and what `endsWithClient` says; other writes are not, so that what was begun
   * ends in a known state.
   */
  readonly call: RpcCallOptions;
  /** As `call`, but holding one scope more: for look-ups that are the gateway's own need. */
  readonly callWithScope: (scope: Scope) => RpcCallOptions;
}

/** What the handler of a signed-in person's request knows. */
export interface SessionContext extends RouteContext {
  readonly session: Session;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** The names in braces of a path. */
export type PathParamNames<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParamNames<Rest> : never;

/** What a handler gets: everything checked and typed. */
export interface RouteInput<Path extends string, QueryValue, BodyValue> {
  readonly params: Readonly<Record<PathParamNames<Path>, string>>;
  readonly query: QueryValue;
  readonly body: BodyValue;
  /** A member of the body as the JSON text that was sent; undefined when it was not. */
  readonly rawJson: (member: keyof BodyValue & string) => string | undefined;
}

/** What the handler of an upload gets: its query checked, its body still to be received. */
export interface UploadInput<Path extends string, QueryValue> extends Pick<
  RouteInput<Path, QueryValue, never>,
  "params" | "query"
> {
  readonly upload: Upload;
}

/** A successful answer. */
export interface ResponseDeclaration {
  /** A sentence for readers of the description. */
  readonly description: string;
  /** `data` of the envelope. Of a route that answers with a file or events: one line or one event of it. */
  readonly data: z.ZodType;
  /** `meta` of the envelope, where there is one. */
  readonly meta?: z.ZodType;
  /** Headers that the handler sets, beside those that every route of its kind has. */
  readonly headers?: readonly ("ETag" | "Set-Cookie")[];
}

/** A header that means something to some handlers only. */
export type RequestHeader = "Idempotency-Key" | "Last-Event-ID";

/** How a route reads its body. */
export interface BodyDeclaration<Schema extends z.ZodType> {
  schema: Schema;
  /** Whether an empty body stands for `{}`. */
  optional?: boolean;
  /** Default 1 MiB (D4). */
  bytesMax?: number;
}

/**
 * What a success leaves in the audit log (D51): an event of this action, or for each object that was
 * changed one of these. Null where nothing changes, and for what is a record of its own.
 */
type AuditDeclaration = AuditAction | readonly AuditAction[] | null;

/** What a route audits has to be said of each that may change something. */
type AuditedMethod =
  | {
      method: "GET";
      audit?: AuditDeclaration;
      /**
       * Whether a session may use it from pages of this server only (D10): it changes something, although
       * browsers count GET as safe and send the cookie along with a link on any site. It answers no HEAD.
       */
      ownPagesOnly?: boolean;
    }
  | { method: Exclude<Method, "GET">; audit: AuditDeclaration };

/** One route, as it is written down. */
type Declaration<
  Context extends OpenContext,
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
> = AuditedMethod & DeclarationParts<Context, Path, QuerySchema, BodySchema, Status>;

interface DeclarationParts<
  Context extends OpenContext,
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
> {
  /** Below the API's base, parameters in braces: `/workflows/{id}`. */
  path: Path;
  bucket: Bucket;
  summary: string;
  /** In sentences what the summary does not say, for readers of the description; line breaks begin a paragraph. */
  description: readonly string[];
  /** What each parameter of the path is. */
  params: Readonly<Record<PathParamNames<Path>, string>>;
  query: QuerySchema;
  body: BodyDeclaration<BodySchema>;
  /** What each successful status means and holds. */
  responses: Readonly<Record<Status, ResponseDeclaration>>;
  /**
   * Reasons for which the handler, or a service that it calls, refuses; those that every route of its kind
   * has are added by `errorsOf`.
   */
  errors?: readonly Reason[];
  /** Of a route that may send the client elsewhere (302): when, and where. */
  redirects?: string;
  /** Headers that the handler reads, beside those of every route; `If-Match` goes without saying. */
  requestHeaders?: readonly RequestHeader[];
  /** Default JSON in the envelope. */
  contentTypes?: readonly ContentType[];
  /** Whether the query string may hold a document, and be far longer than on other routes. */
  hasLongQuery?: boolean;
  /**
   * Whether it reads one object, so that the answer has an `ETag` and one that the reader has is 304. By
   * default that is what GET of a path that ends with a parameter does.
   */
  isSingle?: boolean;
  /** Whether what it has services do is worth nothing, and costs, once the client has gone away. Reads always end. */
  endsWithClient?: boolean;
  handler: (
    context: Context,
    input: RouteInput<Path, z.output<QuerySchema>, z.output<BodySchema>>,
  ) => Promise<Reply<Status> | LongReply | EventStream | FileReply | RedirectReply>;
}

/** A route that receives its body by itself. */
type UploadDeclaration<
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  Status extends SuccessStatus,
> = AuditedMethod &
  Omit<DeclarationParts<RouteContext, Path, QuerySchema, z.ZodType, Status>, "body" | "handler"> & {
    scope: Scope;
    /** The schema is that of a JSON body, for those who read about the route; nothing is checked by it. */
    body: { schema: z.ZodType; bytesMax: number };
    handler: (
      context: RouteContext,
      input: UploadInput<Path, z.output<QuerySchema>>,
    ) => Promise<Reply<Status>>;
  };

/** What came over HTTP, decoded but not checked against the route's schemas. */
export interface RawInput {
  params: Readonly<Record<string, string>>;
  query: Query;
  body: JsonBody;
  /** Of a route that receives its body by itself. */
  upload: Upload | null;
}

/** What every entry of the route table says. */
interface RouteFacts {
  readonly method: Method;
  readonly path: string;
  readonly bucket: Bucket;
  readonly summary: string;
  readonly description: readonly string[];
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.ZodType;
  readonly body: Required<BodyDeclaration<z.ZodType>> & {
    /** Whether the handler receives it by itself. */
    readonly isUpload: boolean;
  };
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  readonly errors: readonly Reason[];
  readonly redirects: string | null;
  readonly requestHeaders: readonly RequestHeader[];
  readonly contentTypes: readonly ContentType[];
  readonly hasLongQuery: boolean;
  readonly isSingle: boolean;
  readonly endsWithClient: boolean;
  readonly ownPagesOnly: boolean;
  /** The actions that a success may leave in the audit log. */
  readonly audit: readonly AuditAction[];
}

/** The part of a route that serves a request. */
interface Served<Context extends OpenContext> {
  /** Checks the input (BAD_REQUEST with every problem) and runs the handler. */
  run(
    context: Context,
    input: RawInput,
  ): Promise<Reply | LongReply | EventStream | FileReply | RedirectReply>;
}

/** A route for callers with a scope. */
interface ScopedRoute extends RouteFacts, Served<RouteContext> {
  readonly scope: Scope;
}

/** A route for signed-in persons. */
interface SessionRoute extends RouteFacts, Served<SessionContext> {
  readonly scope: "session";
  /** The scope that the person's role has to hold as well; null when any role may. */
  readonly roleScope: Scope | null;
}

/** A route that asks for no credential. */
export interface OpenRoute extends RouteFacts, Served<OpenContext> {
  readonly scope: "everybody";
  /** Called before the body is read; rejects for callers who have come too often. */
  readonly admit: ((context: OpenContext) => Promise<void>) | null;
}

/** One entry of the route table. */
export type Route = ScopedRoute | SessionRoute | OpenRoute;

/** 1 MiB (D4). */
const BODY_BYTES_MAX = 1024 * 1024;
const JSON_ONLY: readonly ContentType[] = ["application/json"];

/** For routes without query parameters; unknown ones are ignored. */
export const NO_QUERY = z.object({});
/** For routes without body fields; a JSON object may be sent, an empty body as well. */
export const NO_BODY = { schema: z.object({}), optional: true };

/** Declares a route for callers with a scope; without one it does not compile. */
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
 * Declares a route for signed-in persons, about themselves or, with a scope that their role has to
 * hold, about what is theirs; an API key gets 403.
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

/** Declares a route for callers with a scope whose body is too large, or of another form, to be read first. */
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

/** Declares a route that everybody may use, without a credential. */
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
