import type { ProtocolError, Server } from "@modelcontextprotocol/server";
import type { AppError } from "@workflow/errors";
import type { RouteContext } from "../route-context.ts";
import { CheckedServer } from "./checked-server.ts";
import type { McpMessage } from "./mcp-message.ts";
import { toProtocolError } from "./protocol-error.ts";
import { listResources, readResource, RESOURCE_TEMPLATES } from "./resources.ts";
import { callTool, listTools } from "./tools.ts";

const INSTRUCTIONS =
  "Each tool is a workflow of the company, and each call starts a run of it. A call returns the run's output, " +
  "or, when the run has not ended in time, a link to the run. Read that resource later to see how it went on; " +
  "do not call the tool again for the same task. Tables of the company are resources, too.";

/** One request of the protocol. */
export interface McpExchange {
  readonly context: RouteContext;
  readonly message: McpMessage;
  /** Receives the request's error; over HTTP the answer is 200 all the same. */
  readonly onFailure: (error: AppError) => void;
}

/** The protocol server of one request, limited to what its caller may see and do. */
export function createMcpServer({ context, message, onFailure }: McpExchange): Server {
  const explain = (error: unknown): ProtocolError =>
    toProtocolError(error, context.requestId, onFailure);
  const server = new CheckedServer(
    [
      { name: "workflow", title: "Workflows", version: "1" },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    ],
    explain,
  );
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw explain(error);
    }
  };
  server.setRequestHandler("tools/list", ({ params }) =>
    guarded(() => listTools(context, params?.cursor)),
  );
  server.setRequestHandler("tools/call", ({ params }) =>
    guarded(() => callTool(context, params.name, { json: message.argumentsJson, onFailure })),
  );
  server.setRequestHandler("resources/list", ({ params }) =>
    guarded(() => listResources(context, params?.cursor)),
  );
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler("resources/read", ({ params }) =>
    guarded(() => readResource(context, params.uri)),
  );
  return server;
}
