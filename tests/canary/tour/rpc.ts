import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import { EndpointsServiceService } from "@workflow/proto/webhooks/v1/endpoints";
import { InboundEventsServiceService } from "@workflow/proto/webhooks/v1/events";
import { DashboardsServiceService } from "@workflow/proto/workflows/v1/dashboards";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Evidence } from "../evidence.ts";
import type { Hide } from "../hide.ts";

type Service = keyof WholeSystem["grpcAddresses"];

/** Every service, and where it listens. */
const SERVICES: readonly (readonly [Service, ServiceDefinition])[] = [
  ["integrations", ActionsServiceService],
  ["integrations", AgentsServiceService],
  ["integrations", AuthorizationsServiceService],
  ["integrations", ConnectionsServiceService],
  ["integrations", EmailServiceService],
  ["integrations", SecretsServiceService],
  ["runs", ApprovalsServiceService],
  ["runs", RunsServiceService],
  ["runs", SchedulesServiceService],
  ["tables", RowsServiceService],
  ["tables", TablesServiceService],
  ["webhooks", EndpointsServiceService],
  ["webhooks", InboundEventsServiceService],
  ["workflows", DashboardsServiceService],
  ["workflows", WorkflowsServiceService],
];
/** Those that change nothing are asked for something that is there. */
const READING = /\/(Get|List|Read|Watch|Plan|Compare|Query|Export|Aggregate)\w*$/;
const DEADLINE_MS = 5_000;

/** Values of fields by their names; `id` is that of the service's main resource. */
export type Fields = Readonly<Record<string, string>>;

/**
 * Calls every RPC of every service as an internal caller does, with the token that an operator minted, and
 * once with a token that is none.
 */
export async function tourRpc(
  evidence: Evidence,
  client: WholeSystem,
  token: string,
  hide: Hide,
  fields: Fields,
): Promise<void> {
  for (const [name, definition] of SERVICES) {
    const connection = new Client(client.grpcAddresses[name], credentials.createInsecure());
    try {
      for (const bearer of [token, hide("token that is none")]) {
        for (const rpc of Object.values(definition)) {
          const id = fields[name] ?? "";
          const answer = await callRpc(connection, rpc, bearer, { ...fields, id });
          evidence.add("gRPC answers", rpc.path, answer);
        }
      }
    } finally {
      connection.close();
    }
  }
}

type Rpc = ServiceDefinition[string];

/** All that comes back, as text: messages, the error's details and metadata. */
function callRpc(connection: Client, rpc: Rpc, token: string, fields: Fields): Promise<string> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const request: unknown = rpc.requestDeserialize(Buffer.alloc(0));
  if (READING.test(rpc.path)) Object.assign(Object(request), pick(fields, Object(request)));
  const call = connection.makeBidiStreamRequest(
    rpc.path,
    rpc.requestSerialize,
    rpc.responseDeserialize,
    metadata,
    { deadline: Date.now() + DEADLINE_MS },
  );
  const lines: string[] = [];
  call.on("data", (message: unknown) => void lines.push(JSON.stringify(message)));
  call.on("metadata", (head: Metadata) => void lines.push(JSON.stringify(head.getMap())));
  call.on("error", () => {});
  call.write(request);
  call.end();
  return new Promise((resolve) => {
    call.on("status", ({ code, details, metadata: trailer }) => {
      const binary = Object.entries(trailer.getMap()).map(([name, value]) => {
        return `${name}: ${value.toString("latin1")}`;
      });
      resolve([...lines, `${code} ${details}`, ...binary].join("\n"));
    });
  });
}

/** The fields that a message has. */
function pick(fields: Fields, message: object): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in message));
}
