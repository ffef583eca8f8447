import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { ListRunsRequest, RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { TablesServiceService } from "@workflow/proto/tables/v1/tables";
import {
  ListWorkflowsRequest,
  WorkflowsServiceService,
} from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import { COMPILE_CACHE, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";

const ADMIN = join(import.meta.dirname, "../../deploy/dev/src/admin.ts");
const minted = z.strictObject({ token: z.string(), jti: z.uuid(), expiresAt: z.iso.datetime() });
const SERVICES = ["workflows", "runs", "tables"] as const;
type Service = (typeof SERVICES)[number];

const companyId = newUuid();
let system: SeparateSystem;
let clients: ReturnType<typeof connect>;

beforeAll(async () => {
  system = await startSeparateSystem({ tables: true });
  clients = connect();
}, 180_000);
afterAll(async () => {
  clients.close();
  await system.stop();
});

function connect() {
  const { WORKFLOWS_GRPC_ADDR, RUNS_GRPC_ADDR, TABLES_GRPC_ADDR } = system.grpcAddresses;
  const workflows = createRpcClient(WorkflowsServiceService, { address: WORKFLOWS_GRPC_ADDR });
  const runs = createRpcClient(RunsServiceService, { address: RUNS_GRPC_ADDR });
  const tables = createRpcClient(TablesServiceService, { address: TABLES_GRPC_ADDR });
  const calls: Record<Service, (token: string) => Promise<unknown>> = {
    workflows: (token) =>
      workflows.listWorkflows(ListWorkflowsRequest.fromPartial({ page: { limit: 1 } }), { token }),
    runs: (token) => runs.listRuns(ListRunsRequest.fromPartial({ page: { limit: 1 } }), { token }),
    tables: (token) => tables.listTables({ folderId: undefined }, { token }),
  };
  return {
    calls,
    close() {
      workflows.close();
      runs.close();
      tables.close();
    },
  };
}

/** `OK` or the reason of the refusal, at each service. */
async function tryEverywhere(token: string): Promise<Record<Service, string>> {
  const outcome = (service: Service): Promise<string> =>
    waitFor(async () => {
      try {
        await clients.calls[service](token);
        return "OK";
      } catch (error) {
        if (!isAppError(error) || error.reason === "UNAVAILABLE") throw error;
        return error.reason;
      }
    });
  return {
    workflows: await outcome("workflows"),
    runs: await outcome("runs"),
    tables: await outcome("tables"),
  };
}

const everywhere = (outcome: string) => ({ workflows: outcome, runs: outcome, tables: outcome });

async function admin(...words: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...words, "--json"], {
    env: {
      ...COMPILE_CACHE,
      PATH: process.env["PATH"],
      DATABASE_URL: system.databaseUri,
      ...system.tokens.environment("admin"),
    },
  });
  return JSON.parse(stdout);
}

async function mint(...more: string[]) {
  const scopes = "workflows:read,runs:read";
  return minted.parse(
    await admin("mint-token", "--company", companyId, "--scopes", scopes, ...more),
  );
}

describe("a minted token, where every service is a process of its own", () => {
  it("is good at the services that it names, all of them by default", async () => {
    expect(await tryEverywhere((await mint()).token)).toEqual(everywhere("OK"));
    expect(await tryEverywhere((await mint("--audience", "runs,tables")).token)).toEqual({
      workflows: "UNAUTHORIZED",
      runs: "OK",
      tables: "OK",
    });
  });

  it("that is revoked is refused within five seconds everywhere, by a new process as well", async () => {
    const [first, second, other] = [await mint(), await mint(), await mint()];
    for (const { token } of [first, second, other]) {
      expect(await tryEverywhere(token)).toEqual(everywhere("OK"));
    }

    await admin("revoke-token", "--token", first.token);
    await admin("revoke-token", "--token", second.jti);

    for (const { token } of [first, second]) {
      await waitFor(
        async () => {
          expect(await tryEverywhere(token)).toEqual(everywhere("UNAUTHORIZED"));
          return true;
        },
        { timeoutMs: 60_000, what: "the token to be refused" },
      );
    }
    expect(await tryEverywhere(other.token)).toEqual(everywhere("OK"));

    for (const name of ["workflows", "runs-api", "tables"] as const) {
      await system.kill(name, "SIGKILL");
      await system.start(name);
    }
    await system.waitUntilReady();
    expect(await tryEverywhere(first.token)).toEqual(everywhere("UNAUTHORIZED"));
    expect(await tryEverywhere(second.token)).toEqual(everywhere("UNAUTHORIZED"));
    expect(await tryEverywhere(other.token)).toEqual(everywhere("OK"));
  });
});
