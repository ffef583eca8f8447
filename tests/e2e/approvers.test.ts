import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { ApprovalsServiceService, ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { bySession, signIn } from "../support/people.ts";
import { createActive, startRun, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Person, WholeSystem } from "../support/whole-system.ts";

const ROLES = ["owner", "admin", "member", "viewer"] as const;
const createdKey = z.object({ id: z.string(), key: z.string() });
const approvalList = z.array(z.object({ id: z.string(), status: z.string() })).min(1);

/** Everybody who tries to decide; of the company Acme unless its name says otherwise. */
type CallerName =
  | (typeof ROLES)[number]
  | "named key"
  | "other key"
  | "key without the scope"
  | "stranger's key"
  | "stranger";

let system: WholeSystem;
let approvals: RpcClient<typeof ApprovalsServiceService>;
const people = new Map<string, Person>();
const callers = new Map<CallerName, CallOptions>();
const identities = new Map<CallerName, Identity>();
const keyIds = new Map<string, string>();

beforeAll(async () => {
  system = await startWholeSystem();
  const { runs: address } = system.grpcAddresses;
  approvals = createRpcClient(ApprovalsServiceService, { address });
  const { acme, globex } = system;
  for (const role of ROLES) {
    const person = await system.createPerson(acme, role);
    people.set(role, person);
    callers.set(role, bySession(system, await signIn(system, person)));
    const { id, email } = person;
    identities.set(role, {
      companyId: acme.id,
      principal: { type: "user", id, role, email },
      scopes: role === "viewer" ? ["runs:read"] : ["workflows:execute"],
    });
  }
  people.set("stranger", globex.owner);
  callers.set("stranger", bySession(system, await signIn(system, globex.owner)));
  callers.set("stranger's key", { key: globex.key });
  await makeKey("named key", ["workflows:execute"]);
  await makeKey("other key", ["workflows:execute"]);
  await makeKey("key without the scope", ["workflows:read", "workflows:write", "runs:read"]);
  await makeKey("stranger's key", ["workflows:execute"], globex);
});
afterAll(async () => {
  approvals.close();
  await system.stop();
});

async function makeKey(
  name: CallerName,
  scopes: readonly string[],
  company = system.acme,
): Promise<void> {
  const answer = await system.call("POST", "/auth/api-keys", {
    key: company.key,
    body: { name, scopes },
  });
  const { id, key } = createdKey.parse(answer.data);
  keyIds.set(name, id);
  callers.set(name, { key });
  identities.set(name, { companyId: company.id, principal: { type: "api_key", id }, scopes });
}

const idOf = (name: string): string => people.get(name)?.id ?? "";
const emailOf = (name: string): string => people.get(name)?.email ?? "";
const keyIdOf = (name: string): string => keyIds.get(name) ?? "";

/** Who is named, and who of all callers may decide then. */
const KINDS: readonly [string, () => object | undefined, readonly CallerName[]][] = [
  ["nobody", () => undefined, ["owner", "admin", "member", "named key", "other key"]],
  ["a user by id", () => ({ users: [idOf("member")] }), ["member"]],
  ["a user by id in capitals", () => ({ users: [idOf("admin").toUpperCase()] }), ["admin"]],
  ["a user by e-mail", () => ({ users: [emailOf("member")] }), ["member"]],
  ["a user by e-mail in capitals", () => ({ users: [emailOf("owner").toUpperCase()] }), ["owner"]],
  ["a user who has not the scope", () => ({ users: [idOf("viewer"), emailOf("viewer")] }), []],
  ["the role owner", () => ({ roles: ["owner"] }), ["owner"]],
  ["the role admin", () => ({ roles: ["admin"] }), ["admin"]],
  ["the role member", () => ({ roles: ["member"] }), ["member"]],
  ["the role viewer", () => ({ roles: ["viewer"] }), []],
  ["an API key", () => ({ apiKeys: [keyIdOf("named key")] }), ["named key"]],
  [
    "a key without the scope, beside others",
    () => ({ apiKeys: [keyIdOf("key without the scope"), keyIdOf("other key").toUpperCase()] }),
    ["other key"],
  ],
  [
    "a user and a role",
    () => ({ users: [emailOf("admin")], roles: ["owner"] }),
    ["owner", "admin"],
  ],
  [
    "a role and a key",
    () => ({ roles: ["member"], apiKeys: [keyIdOf("named key")] }),
    ["member", "named key"],
  ],
  [
    "a user, a role and a key",
    () => ({
      users: [idOf("member")],
      roles: ["viewer", "admin"],
      apiKeys: [keyIdOf("other key")],
    }),
    ["member", "admin", "other key"],
  ],
  ["ids of users among keys", () => ({ apiKeys: [idOf("owner"), idOf("admin")] }), []],
  ["ids of keys among users", () => ({ users: [keyIdOf("named key"), keyIdOf("other key")] }), []],
  [
    "somebody of another company and nobody at all",
    () => ({
      users: [emailOf("stranger"), idOf("stranger"), newUuid(), "nobody@example.test"],
      apiKeys: [keyIdOf("stranger's key"), newUuid()],
    }),
    [],
  ],
];

interface Question {
  runId: string;
  approvalId: string;
}

async function ask(workflowId: string): Promise<Question> {
  const runId = await startRun(system, workflowId);
  await waitForRun(system, runId, ["waiting_approval"]);
  const approvalId = await waitFor(async () => {
    const answer = await system.call("GET", `/runs/${runId}/approvals`);
    return approvalList.parse(answer.data)[0]?.id ?? null;
  });
  return { runId, approvalId };
}

function createAsking(approvers: object | undefined): Promise<string> {
  const config = { message: "Pay?", ...(approvers === undefined ? {} : { approvers }) };
  return createActive(system, {
    name: "Asks",
    steps: [{ id: "ask", type: "approval", name: "Ask", config }],
  });
}

/** What the caller is told over REST: `200`, or status and code. */
async function decideByRest({ runId, approvalId }: Question, caller: CallOptions) {
  const answer = await system.call("POST", `/runs/${runId}/approvals/${approvalId}`, {
    ...caller,
    body: { decision: "approved" },
  });
  return answer.status === 200 ? "200" : `${answer.status} ${answer.error?.code}`;
}

/** What the caller is told over gRPC: `OK`, or the reason. */
async function decideByGrpc({ runId, approvalId }: Question, token: string): Promise<string> {
  const request = { runId, approvalId, decision: ApprovalStatus.APPROVED };
  try {
    await approvals.decideApproval(request, { token });
    return "OK";
  } catch (error) {
    return isAppError(error) ? error.reason : String(error);
  }
}

const STRANGERS: readonly CallerName[] = ["stranger", "stranger's key"];

describe.each(KINDS)("an approval that names %s", (_kind, approvers, allowed) => {
  let workflowId: string;
  let waiting: Question;
  beforeAll(async () => {
    workflowId = await createAsking(approvers());
    waiting = await ask(workflowId);
  });

  it("is decided over REST by these and no others", async () => {
    for (const [name, caller] of callers) {
      const isAllowed = allowed.includes(name);
      const refusal = STRANGERS.includes(name) ? "404 NOT_FOUND" : "403 FORBIDDEN";
      const question = isAllowed ? await ask(workflowId) : waiting;
      expect([name, await decideByRest(question, caller)]).toEqual([
        name,
        isAllowed ? "200" : refusal,
      ]);
      if (isAllowed) await waitForRun(system, question.runId, ["completed"]);
    }
  });

  it("is decided over gRPC by these and no others", async () => {
    const gateway = system.tokens.signerOf("gateway");
    for (const [name, identity] of identities) {
      const token = await gateway.sign(identity, { audience: "runs", ttlSeconds: 60 });
      const isAllowed = allowed.includes(name);
      const refusal = STRANGERS.includes(name) ? "NOT_FOUND" : "FORBIDDEN";
      const question = isAllowed ? await ask(workflowId) : waiting;
      expect([name, await decideByGrpc(question, token)]).toEqual([
        name,
        isAllowed ? "OK" : refusal,
      ]);
    }
  });

  it("is decided with a minted token only when nobody is named", async () => {
    const minted = (companyId: string, scopes: readonly string[], id: string): Promise<string> => {
      const principal = { type: "token", id } as const;
      const terms = { audience: "runs", ttlSeconds: 60 } as const;
      return system.tokens.signerOf("admin").sign({ companyId, principal, scopes }, terms);
    };
    const { acme, globex } = system;
    const execute = ["workflows:execute"];
    // A token that was given the id of somebody named is still nobody.
    for (const id of [newUuid(), idOf("member"), keyIdOf("named key")]) {
      const question = approvers() === undefined ? await ask(workflowId) : waiting;
      expect(await decideByGrpc(question, await minted(acme.id, execute, id))).toBe(
        approvers() === undefined ? "OK" : "FORBIDDEN",
      );
    }
    const other = await minted(globex.id, execute, newUuid());
    expect(await decideByGrpc(waiting, other)).toBe("NOT_FOUND");
    const reader = await minted(acme.id, ["runs:read", "workflows:write"], newUuid());
    expect(await decideByGrpc(waiting, reader)).toBe("FORBIDDEN");
  });

  it("is never decided by a service, in whose name nobody stands", async () => {
    for (const issuer of ["workflows", "runs", "webhooks"] as const) {
      const principal = { type: "service", id: issuer } as const;
      const identity = { companyId: system.acme.id, principal, scopes: ["workflows:execute"] };
      const terms = { audience: "runs", ttlSeconds: 60 } as const;
      const token = await system.tokens.signerOf(issuer).sign(identity, terms);
      expect([issuer, await decideByGrpc(waiting, token)]).toEqual([issuer, "UNAUTHORIZED"]);
    }
  });
});

describe("a role", () => {
  it("counts as it is when the person decides, not as it was at the sign-in", async () => {
    const workflowId = await createAsking({ roles: ["admin"] });
    const person = await system.createPerson(system.acme, "member");
    const caller = bySession(system, await signIn(system, person));
    const question = await ask(workflowId);
    expect(await decideByRest(question, caller)).toBe("403 FORBIDDEN");
    const owner = callers.get("owner");
    await system.call("PATCH", `/members/${person.id}`, { ...owner, body: { role: "admin" } });
    expect(await decideByRest(question, caller)).toBe("200");
  });
});
