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
export type AuditDeclaration = AuditAction | readonly AuditAction[] | null;

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
export type UploadDeclaration<
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
