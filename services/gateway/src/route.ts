import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { Identity, RpcCallOptions, RpcClient } from "@workflow/rpc";
import type { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import type { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import type { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { z } from "zod";
import type { Scope } from "./auth/scopes.ts";
import { explainIssue, toViolations } from "./errors/violations.ts";
import type { JsonBody } from "./http/json-body.ts";
import type { Query } from "./http/parse-query.ts";
import type { Writable } from "./http/write-json.ts";
import type { StartBatcher } from "./start-batcher.ts";

/** The services behind the gateway. */
export interface Backends {
  readonly workflows: RpcClient<WorkflowsServiceService>;
  readonly runs: RpcClient<RunsServiceService>;
  readonly approvals: RpcClient<ApprovalsServiceService>;
  readonly schedules: RpcClient<SchedulesServiceService>;
  readonly secrets: RpcClient<SecretsServiceService>;
  /** Starts runs that nobody waits for. */
  readonly starts: StartBatcher;
}

/** What a route's handler knows of the request, beside its input. */
export interface RouteContext extends Backends {
  readonly requestId: string;
  readonly identity: Identity;
  readonly headers: IncomingHttpHeaders;
  /**
   * For calls of services on the caller's behalf: identity, request id, trace. Reads are cancelled
   * when the client goes away; writes are not, so that what was begun ends in a known state.
   */
  readonly call: RpcCallOptions;
  /** As `call`, but holding one scope more: for look-ups that are the gateway's own need. */
  readonly callWithScope: (scope: Scope) => RpcCallOptions;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** The rate limit that a request counts against (D9). */
export type Bucket = "read" | "write" | "execute";
export type SuccessStatus = 200 | 201 | 202 | 204;
/** The form of a successful answer. */
export type ContentType = "application/json" | "text/event-stream";

/** A successful answer. */
export interface Reply<Status extends SuccessStatus = SuccessStatus> {
  status: Status;
  data: Writable;
  meta?: Writable;
}

/** One server-sent event. */
export interface ServerEvent {
  event: string;
  /** What a client that connects anew sends as `Last-Event-ID`. */
  id: string;
  data: Writable;
}

/**
 * An answer that is told bit by bit, as server-sent events. Null says that there is nothing to tell
 * yet; one that ends without anything is answered with 204, which tells clients not to come again.
 */
export interface EventStream {
  events: AsyncIterable<ServerEvent | null>;
}

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

/** How a route reads its body. */
export interface BodyDeclaration<Schema extends z.ZodType> {
  schema: Schema;
  /** Whether an empty body stands for `{}`. */
  optional?: boolean;
  /** Default 1 MiB (D4). */
  bytesMax?: number;
}

/** One route, as it is written down. */
export interface RouteDeclaration<
  Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
> {
  method: Method;
  /** Below the API's base, parameters in braces: `/workflows/{id}`. */
  path: Path;
  scope: Scope;
  bucket: Bucket;
  summary: string;
  /** What each parameter of the path is. */
  params: Readonly<Record<PathParamNames<Path>, string>>;
  query: QuerySchema;
  body: BodyDeclaration<BodySchema>;
  /** What each successful status means. */
  responses: Readonly<Record<Status, string>>;
  /** Default JSON in the envelope. */
  contentType?: ContentType;
  handler: (
    context: RouteContext,
    input: RouteInput<Path, z.output<QuerySchema>, z.output<BodySchema>>,
  ) => Promise<Reply<Status> | EventStream>;
}

/** What came over HTTP, decoded but not checked against the route's schemas. */
export interface RawInput {
  params: Readonly<Record<string, string>>;
  query: Query;
  body: JsonBody;
}

/** One entry of the route table. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly scope: Scope;
  readonly bucket: Bucket;
  readonly summary: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.ZodType;
  readonly body: Required<BodyDeclaration<z.ZodType>>;
  readonly responses: Readonly<Record<number, string>>;
  readonly contentType: ContentType;
  /** Checks the input (BAD_REQUEST with every problem) and runs the handler. */
  run(context: RouteContext, input: RawInput): Promise<Reply | EventStream>;
}

/** 1 MiB (D4). */
const BODY_BYTES_MAX = 1024 * 1024;

/** For routes without query parameters; unknown ones are ignored. */
export const NO_QUERY = z.object({});
/** For routes without body fields; a JSON object may be sent, an empty body as well. */
export const NO_BODY = { schema: z.object({}), optional: true };

/** Declares a route; without a scope it does not compile. */
export function route<
  const Path extends `/${string}`,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  Status extends SuccessStatus,
>(declaration: RouteDeclaration<Path, QuerySchema, BodySchema, Status>): Route {
  const { handler, query, body, ...rest } = declaration;
  return {
    contentType: "application/json",
    ...rest,
    query,
    body: { optional: false, bytesMax: BODY_BYTES_MAX, ...body },
    async run(context, input) {
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

function invalidRequest(violations: Violation[]): AppError {
  const first = violations[0];
  const text = first === undefined ? "" : `: ${first.path.join(".")} ${first.message}`;
  return new AppError("BAD_REQUEST", `The request is not valid${text}.`, { violations });
}
