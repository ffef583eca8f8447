import type { AuditAction } from "@workflow/audit";
import type { Reason } from "@workflow/errors";
import type { z } from "zod";
import type { Scope } from "./domain/scopes.ts";
import type { Upload } from "./http/upload.ts";
import type { Bucket } from "./domain/bucket.ts";
import type {
  ContentType,
  EventStream,
  FileReply,
  LongReply,
  RedirectReply,
  Reply,
  SuccessStatus,
} from "./reply.ts";
import type { OpenContext, RouteContext } from "./route-context.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** The names in braces of a path. */
export type PathParamNames<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParamNames<Rest> : never;

/** The checked and typed input of a handler. */
export interface RouteInput<Path extends string, QueryValue, BodyValue> {
  readonly params: Readonly<Record<PathParamNames<Path>, string>>;
  readonly query: QueryValue;
  readonly body: BodyValue;
  /** A member of the body as the JSON text that was sent; undefined when the member is missing. */
  readonly rawJson: (member: keyof BodyValue & string) => string | undefined;
}

/** The input of an upload's handler: the checked query, and the body, which the handler receives itself. */
export interface UploadInput<Path extends string, QueryValue> extends Pick<
  RouteInput<Path, QueryValue, never>,
  "params" | "query"
> {
  readonly upload: Upload;
}

/** A successful answer. */
export interface ResponseDeclaration {
  /** A sentence for readers of the API's description. */
  readonly description: string;
  /**
   * The schema of `data` in the envelope. For a route that answers with a file or events: the schema of
   * one line or one event.
   */
  readonly data: z.ZodType;
  /** The schema of `meta` in the envelope, where the answer has one. */
  readonly meta?: z.ZodType;
  /** Headers that the handler sets, in addition to those of every route of this kind. */
  readonly headers?: readonly ("ETag" | "Set-Cookie")[];
}

/** A header that only some handlers read. */
export type RequestHeader = "Idempotency-Key" | "Last-Event-ID";

/** The rules for reading a route's body. */
export interface BodyDeclaration<Schema extends z.ZodType> {
  schema: Schema;
  /** Whether an empty body stands for `{}`. */
  optional?: boolean;
  /** The limit of the body; 1 MiB by default (D4). */
  bytesMax?: number;
}

/**
 * The audit events of a success (D51): one event of this action, or one of several actions for each
 * changed object. Null when nothing changes, or when the object is its own record.
 */
export type AuditDeclaration = AuditAction | readonly AuditAction[] | null;

/** Methods whose routes must declare their audit events, because they may change something. */
type AuditedMethod =
  | {
      method: "GET";
      audit?: AuditDeclaration;
      /**
       * Whether a session may use the route from pages of this server only (D10). Such a GET changes
       * something, but browsers treat every GET as safe: a link on any site would send the cookie. The
       * route does not answer HEAD.
       */
      ownPagesOnly?: boolean;
    }
  | { method: Exclude<Method, "GET">; audit: AuditDeclaration };

/** The declaration of one route. */
export type Declaration<
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
  /** The path below the API's base, with parameters in braces: `/workflows/{id}`. */
  path: Path;
  bucket: Bucket;
  summary: string;
  /** Sentences that add to the summary, for readers of the description; a line break begins a paragraph. */
  description: readonly string[];
  /** The meaning of each parameter of the path. */
  params: Readonly<Record<PathParamNames<Path>, string>>;
  query: QuerySchema;
  body: BodyDeclaration<BodySchema>;
  /** The meaning and the content of each successful status. */
  responses: Readonly<Record<Status, ResponseDeclaration>>;
  /**
   * The reasons for which the handler, or a service that it calls, refuses. `errorsOf` adds the reasons
   * that every route of this kind has.
   */
  errors?: readonly Reason[];
  /** For a route that may redirect the client (302): the condition and the target. */
  redirects?: string;
  /** Headers that the handler reads, in addition to those of every route. `If-Match` need not be listed. */
  requestHeaders?: readonly RequestHeader[];
  /** The content types of the answer; JSON in the envelope by default. */
  contentTypes?: readonly ContentType[];
  /** Whether the query string may contain a document, and so be much longer than on other routes. */
  hasLongQuery?: boolean;
  /**
   * Whether the route reads one object. Its answer then has an `ETag`, and 304 answers a reader whose
   * copy is current. By default this holds for GET of a path that ends with a parameter.
   */
  isSingle?: boolean;
  /**
   * Whether the work in the services is cancelled when the client leaves, because it is expensive and
   * useless without a reader. Reads are always cancelled.
   */
  endsWithClient?: boolean;
  handler: (
    context: Context,
    input: RouteInput<Path, z.output<QuerySchema>, z.output<BodySchema>>,
  ) => Promise<Reply<Status> | LongReply | EventStream | FileReply | RedirectReply>;
}

/** The declaration of a route whose handler receives the body itself. */
export type UploadDeclaration<
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  Status extends SuccessStatus,
> = AuditedMethod &
  Omit<DeclarationParts<RouteContext, Path, QuerySchema, z.ZodType, Status>, "body" | "handler"> & {
    scope: Scope;
    /** The schema describes a JSON body for readers only; the gateway checks nothing against it. */
    body: { schema: z.ZodType; bytesMax: number };
    handler: (
      context: RouteContext,
      input: UploadInput<Path, z.output<QuerySchema>>,
    ) => Promise<Reply<Status>>;
  };
