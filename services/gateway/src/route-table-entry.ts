import type { AuditAction } from "@workflow/audit";
import type { Reason } from "@workflow/errors";
import type { z } from "zod";
import type { Scope } from "./domain/scopes.ts";
import type { JsonBody } from "./http/json-body.ts";
import type { Query } from "./http/parse-query.ts";
import type { Upload } from "./http/upload.ts";
import type { Bucket } from "./domain/bucket.ts";
import type {
  ContentType,
  EventStream,
  FileReply,
  LongReply,
  RedirectReply,
  Reply,
} from "./reply.ts";
import type { OpenContext, RouteContext, SessionContext } from "./route-context.ts";
import type {
  BodyDeclaration,
  Method,
  RequestHeader,
  ResponseDeclaration,
} from "./route-declaration.ts";

/** The input as it came over HTTP, decoded but not checked against the route's schemas. */
export interface RawInput {
  params: Readonly<Record<string, string>>;
  query: Query;
  body: JsonBody;
  /** The body of a route that receives it itself; null on other routes. */
  upload: Upload | null;
}

/** The properties of every entry of the route table. */
export interface RouteFacts {
  readonly method: Method;
  readonly path: string;
  readonly bucket: Bucket;
  readonly summary: string;
  readonly description: readonly string[];
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.ZodType;
  readonly body: Required<BodyDeclaration<z.ZodType>> & {
    /** Whether the handler receives the body itself. */
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
export interface Served<Context extends OpenContext> {
  /** Checks the input (BAD_REQUEST with every problem) and runs the handler. */
  run(
    context: Context,
    input: RawInput,
  ): Promise<Reply | LongReply | EventStream | FileReply | RedirectReply>;
}

/** A route for callers with a scope. */
export interface ScopedRoute extends RouteFacts, Served<RouteContext> {
  readonly scope: Scope;
}

/** A route for signed-in persons. */
export interface SessionRoute extends RouteFacts, Served<SessionContext> {
  readonly scope: "session";
  /** The scope that the person's role has to hold as well; null when any role may. */
  readonly roleScope: Scope | null;
}

/** A route that needs no credential. */
export interface OpenRoute extends RouteFacts, Served<OpenContext> {
  readonly scope: "everybody";
  /** Called before the body is read; rejects for callers with too many requests. */
  readonly admit: ((context: OpenContext) => Promise<void>) | null;
}

/** One entry of the route table. */
export type Route = ScopedRoute | SessionRoute | OpenRoute;
