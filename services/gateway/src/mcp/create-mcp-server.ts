import { Server } from "@modelcontextprotocol/server";
import type { Logger } from "pino";
import type { RouteContext } from "../route-context.ts";
import { toProtocolError } from "./protocol-error.ts";
import { listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { callTool, listTools } from "./tools.ts";

const INSTRUCTIONS =
  `Each tool is a workflow of the company, and each call starts a run of it. A call returns the
run's output, or, when the run has not ended within its time, a link to the run: read that resource to
see how it went on. Tables of the company are resources, too.`.replaceAll("\n", " ");

/** The protocol's side of one request: what the caller of the context may see and do, and no more. */
export function createMcpServer(context: RouteContext, logger: Logger): Server {
  const server = new Server(
    { name: "workflow", title: "Workflows", version: "1" },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  /** Passes on what the caller is to be told, and writes down what only the operator may know. */
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toProtocolError(error, context.requestId, logger);
    }
  };
  server.setRequestHandler("tools/list", ({ params }) =>
    guarded(() => listTools(context, params?.cursor)),
  );
  server.setRequestHandler("tools/call", ({ params }) =>
    guarded(() => callTool(context, params.name, params.arguments ?? {})),
  );
  server.setRequestHandler("resources/list", () => guarded(() => listResources(context)));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler("resources/read", ({ params }) =>
    guarded(() => readResource(context, params.uri)),
  );
  return server;
}
