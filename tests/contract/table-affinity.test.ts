import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { createScope } from "@workflow/async";
import { startGatewayService } from "@workflow/service-gateway";
import { insertPreparedCompany } from "@workflow/service-gateway/admin";
import { createTablesClient } from "@workflow/service-runs";
import { startTablesService } from "@workflow/service-tables";
import { createTestDatabase, createTestTokens, waitFor } from "@workflow/testkit";
import pino from "pino";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";

/*
 * ADR 75: whatever is answered from a table's columns is asked of the replica that has them, by the gateway and
 * by the steps of runs. Two replicas of the tables service, each with a log of its own, tell which was asked.
 */

const NOBODY = "127.0.0.1:1";
const TABLES = 24;
const FIGURES = { measures: [{ fn: "sum", column: "n" }] };
const FROM_COLUMNS = ["QueryRows", "ListDistinctValues", "AggregateRows"];

const scope = createScope();
afterAll(() => scope.close());

/** The lines of each replica's log. */
const logs: readonly string[][] = [[], []];
let callGateway: (method: string, path: string, body?: object) => ReturnType<typeof callApi>;
let queryAsRun: (tableId: string) => Promise<unknown>;

beforeAll(() =>
  scope.guard(async () => {
    const testDatabase = await createTestDatabase();
    scope.defer(() => testDatabase.close());
    const tokens = createTestTokens();
    const bus = createInProcessEventBus({ consumers: {} });
    scope.defer(() => bus.close());
    const common = {
      databaseUrl: testDatabase.connectionUri,
      databasePoolSize: 4,
      tokenPublicKeys: tokens.publicKeys,
      grpcReflection: false,
      bus,
    };
    const addresses: string[] = [];
    for (const lines of logs) {
      const logger = pino({ level: "debug" }, { write: (line) => void lines.push(line) });
      const service = await startTablesService({ ...common, logger, grpcAddress: "127.0.0.1:0" });
      scope.defer(() => service.stop());
      addresses.push(service.grpcAddress);
    }
    const tablesGrpcAddress = addresses.join(",");
    const gateway = await startGatewayService({
      ...common,
      logger: pino({ level: "silent" }),
      host: "127.0.0.1",
      port: 0,
      tokenSigner: tokens.signerOf("gateway"),
      tablesGrpcAddress,
      workflowsGrpcAddress: NOBODY,
      runsGrpcAddress: NOBODY,
      integrationsGrpcAddress: NOBODY,
      webhooksGrpcAddress: NOBODY,
      webhooksHttpAddress: NOBODY,
    });
    scope.defer(() => gateway.stop());
    const company = await addCompany(testDatabase.connectionUri);
    callGateway = (method, path, body) =>
      callApi(`http://127.0.0.1:${gateway.port}/api/v1${path}`, method, {
        key: company.apiKey,
        ...(body === undefined ? {} : { body }),
      });
    const client = createTablesClient({
      address: tablesGrpcAddress,
      tokenSigner: tokens.signerOf("runs"),
    });
    scope.defer(() => client.close());
    const { companyId } = company;
    const caller = { companyId, runId: newUuid(), requestId: newUuid(), traceparent: null };
    queryAsRun = (tableId) => client.query(caller, { tableId }, AbortSignal.timeout(60_000));
  }),
);

async function addCompany(connectionUri: string) {
  const database = await openDatabase({
    connectionUri,
    maxConnections: 1,
    applicationName: "test",
    onError: () => {},
  });
  const owner = { name: "Acme", email: "owner@acme.example", passwordHash: "$none" };
  try {
    return await database.transaction((transaction) => insertPreparedCompany(transaction, owner));
  } finally {
    await database.end();
  }
}

const request = z.object({ msg: z.literal("request"), rpc: z.string() });

/** How many questions that are answered from columns each replica was asked so far. */
function asked(): number[] {
  return logs.map(
    (lines) =>
      lines.filter((line) => {
        const { data } = request.safeParse(JSON.parse(line));
        return data !== undefined && FROM_COLUMNS.some((method) => data.rpc.endsWith(method));
      }).length,
  );
}

describe("questions about one table", () => {
  it("are asked of one of two replicas by the gateway and by runs, and tables are spread", async () => {
    await reachBoth(() => callGateway("POST", `/tables/${newUuid()}/rows/query`, {}));
    await reachBoth(() => queryAsRun(newUuid()).catch(() => {}));

    const owners = new Set<number>();
    for (let count = 0; count < TABLES; count += 1) owners.add(await ownerOf(`Table ${count}`));
    expect(owners).toEqual(new Set([0, 1]));
  });
});

/** A client takes the replica that is connected first, so it is asked for anything until it is connected to both. */
async function reachBoth(ask: () => Promise<unknown>): Promise<void> {
  const before = asked();
  await waitFor(async () => {
    await ask();
    return asked().every((count, place) => count > (before[place] ?? 0));
  });
}

const created = z.object({ id: z.uuid() });

/** Makes a table and asks every question about it; returns the place of the replica that has answered them all. */
async function ownerOf(name: string): Promise<number> {
  const columns = [{ id: "n", name: "N", type: "number" }];
  const rows = [{ n: 1 }, { n: 2 }];
  const { data } = await callGateway("POST", "/tables/import", { name, columns, rows });
  const { id } = created.parse(data);
  const before = asked();
  const answers = [
    await callGateway("POST", `/tables/${id}/rows/query`, {}),
    await callGateway("GET", `/tables/${id}/rows?sort=n`),
    await callGateway("GET", `/tables/${id}/columns/n/values`),
    await callGateway("POST", `/tables/${id}/aggregate`, FIGURES),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await queryAsRun(id)).toMatchObject({ total: 2 });
  const questions = answers.length + 1;
  // A line is written after its answer.
  const each = await waitFor(() => {
    const counts = asked().map((count, place) => count - (before[place] ?? 0));
    return counts.reduce((sum, count) => sum + count, 0) >= questions ? counts : null;
  });
  expect(each.toSorted((a, b) => a - b)).toEqual([0, questions]);
  return each.indexOf(questions);
}
