import { createHmac, createPublicKey } from "node:crypto";
import { Client, credentials, Metadata, status as Code } from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  ListWorkflowsRequest,
  WorkflowsServiceService,
} from "@workflow/proto/workflows/v1/workflows";
import { generateSigningKey, TOKEN_AUDIENCES, TOKEN_ISSUERS } from "@workflow/rpc";
import type { Identity, TokenAudience, TokenIssuer } from "@workflow/rpc";
import { SCOPES } from "@workflow/service-gateway/admin";
import { exportJWK, importPKCS8, SignJWT } from "jose";
import { z } from "zod";
import { createWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import {
  services,
  methods,
  BETWEEN_SERVICES,
  IN_OWN_NAME,
  INTERNAL_SCOPES,
  audienceOf,
} from "../support/internal-methods.ts";

const messageType = z.looseObject({ field: z.array(z.looseObject({ name: z.string() })) });

let system: WholeSystem;
const clients = new Map<string, Client>();

beforeAll(async () => {
  system = await startWholeSystem();
  for (const [domain, address] of Object.entries(system.grpcAddresses)) {
    clients.set(domain, new Client(address, credentials.createInsecure()));
  }
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await system.stop();
});

/** An owner: no caller from outside may do more. */
function caller(): Identity {
  const principal = { type: "user", id: system.acme.owner.id, role: "owner" } as const;
  return { companyId: system.acme.id, principal, scopes: SCOPES };
}

/** A token with which a method's usual caller calls it. */
function goodFor(path: string, changes: Partial<Identity> = {}): Promise<string> {
  const audience = audienceOf(path);
  const between = BETWEEN_SERVICES[path];
  if (between === undefined) {
    const terms = { audience, ttlSeconds: 60 };
    return system.tokens.signerOf("gateway").sign({ ...caller(), ...changes }, terms);
  }
  const { issuer, scope } = between;
  const principal = { type: "service", id: issuer } as const;
  const identity = { companyId: system.acme.id, principal, scopes: [scope], ...changes };
  return system.tokens.signerOf(issuer).sign(identity, { audience, ttlSeconds: 60 });
}

const seconds = (): number => Math.floor(Date.now() / 1000);
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The claims of a good token of the gateway for all services. */
function claims() {
  const { companyId, principal, scopes } = caller();
  return {
    sub: principal.id,
    cid: companyId,
    typ: principal.type,
    scope: scopes.join(" "),
    iss: "gateway",
    aud: [...TOKEN_AUDIENCES],
    jti: "one",
    iat: seconds(),
    exp: seconds() + 60,
  };
}

/** A token that an issuer's own key has signed, with other claims. */
async function signed(changes: object, issuer: TokenIssuer = "gateway"): Promise<string> {
  const { privateKeyPem, keyId } = system.tokens.keys[issuer];
  return new SignJWT({ ...claims(), iss: issuer, ...changes })
    .setProtectedHeader({ alg: "EdDSA", kid: keyId })
    .sign(await importPKCS8(privateKeyPem, "EdDSA"));
}

async function foreign(kid: string): Promise<string> {
  const { privateKeyPem } = generateSigningKey();
  return new SignJWT(claims())
    .setProtectedHeader({ alg: "EdDSA", kid })
    .sign(await importPKCS8(privateKeyPem, "EdDSA"));
}

/** A token whose signature takes the public key for a shared secret. */
async function confused(): Promise<string> {
  const { publicKeyPem, keyId } = system.tokens.keys.gateway;
  const text = `${base64({ alg: "HS256", kid: keyId })}.${base64(claims())}`;
  const signature = createHmac("sha256", publicKeyPem).update(text).digest("base64url");
  return `${text}.${signature}`;
}

/** A token that brings its own key along. */
async function selfMade(): Promise<string> {
  const { privateKeyPem, publicKeyPem } = generateSigningKey();
  const jwk = await exportJWK(createPublicKey(publicKeyPem));
  return new SignJWT(claims())
    .setProtectedHeader({ alg: "EdDSA", jwk })
    .sign(await importPKCS8(privateKeyPem, "EdDSA"));
}

async function forged(): Promise<string> {
  const [header, , signature] = (await signed({})).split(".");
  return `${header}.${base64({ ...claims(), cid: system.globex.id })}.${signature}`;
}

const withInternal = (): string => [...SCOPES, ...INTERNAL_SCOPES].join(" ");

const BAD_TOKENS: readonly [
  string,
  (audience: TokenAudience) => string | undefined | Promise<string>,
][] = [
  ["no token", () => undefined],
  ["an empty one", () => ""],
  ["no JWT", () => "secret"],
  ["an API key", () => system.acme.key],
  ["an expired one", () => signed({ exp: seconds() - 1 })],
  ["one without an end", () => signed({ exp: undefined })],
  ["one without a name", () => signed({ jti: undefined })],
  ["one for no service of ours", () => signed({ aud: "elsewhere" })],
  [
    "one for all other services",
    (own) => signed({ aud: TOKEN_AUDIENCES.filter((a) => a !== own) }),
  ],
  ["one without a company", () => signed({ cid: "" })],
  ["one of an unknown kind", () => signed({ typ: "root" })],
  ["another company in a signed one", () => forged()],
  ["a foreign key", () => foreign("elsewhere")],
  ["a foreign key under the name of ours", () => foreign(system.tokens.keys.gateway.keyId)],
  ["a key that it brings along", () => selfMade()],
  [
    "the algorithm none",
    () => `${base64({ alg: "none", kid: system.tokens.keys.gateway.keyId })}.${base64(claims())}.`,
  ],
  ["our public key as a shared secret", () => confused()],
  ["the key of another issuer", () => signed({ iss: "gateway" }, "workflows")],
  ["an issuer that does not exist", () => signed({ iss: "workflow" })],
  ["scopes of services, claimed by the gateway", () => signed({ scope: withInternal() })],
  ["scopes of services, minted", () => signed({ typ: "token", scope: withInternal() }, "admin")],
  ["a service, claimed by the gateway", () => signed({ typ: "service", sub: "gateway" })],
  ["a person, minted", () => signed({}, "admin")],
  ["a role, minted", () => signed({ typ: "token", role: "owner" }, "admin")],
  ["a role of a key", () => signed({ typ: "api_key", role: "owner" })],
  ["an hour of life, claimed by the gateway", () => signed({ exp: seconds() + 3600 })],
  [
    "a minute of life that begins in an hour",
    () => signed({ iat: seconds() + 3600, exp: seconds() + 3660 }),
  ],
  ["31 days of life, minted", () => signed({ typ: "token", exp: seconds() + 2_678_400 }, "admin")],
  ...TOKEN_ISSUERS.filter((issuer) => issuer !== "gateway" && issuer !== "admin").flatMap(
    (issuer): [string, () => Promise<string>][] => [
      [`a person, claimed by ${issuer}`, () => signed({}, issuer)],
      [
        `every scope, claimed by ${issuer}`,
        () => signed({ typ: "service", sub: issuer, scope: withInternal() }, issuer),
      ],
      [
        `the name of another service, claimed by ${issuer}`,
        () => signed({ typ: "service", sub: "elsewhere", scope: "" }, issuer),
      ],
    ],
  ),
];

/** The members of a method that say how to call it. */
type Callable = Pick<
  MethodDefinition<unknown, unknown>,
  "path" | "requestStream" | "responseStream"
>;

/** The status of a call with an empty request, or of the end of its stream. */
function call(
  { path, requestStream, responseStream }: Callable,
  token: string | undefined,
): Promise<number> {
  const domain = path.split(".")[1] ?? "";
  const client = clients.get(domain);
  if (client === undefined) throw new Error(`Say where ${domain} listens, in whole-system.ts.`);
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const encode = (bytes: Buffer): Buffer => bytes;
  const request = [path, encode, encode, Buffer.alloc(0), metadata] as const;
  const options = { deadline: Date.now() + 20_000 };
  return new Promise((resolve) => {
    if (requestStream) {
      const stream = client.makeClientStreamRequest(
        ...([path, encode, encode, metadata, options] as const),
        (error) => resolve(error?.code ?? Code.OK),
      );
      // A stream that is refused at once may fail to send the rest.
      stream.on("error", () => {});
      stream.end(Buffer.alloc(0));
    } else if (responseStream) {
      const stream = client.makeServerStreamRequest(...request, options);
      stream.on("error", () => {});
      stream.on("status", ({ code }) => resolve(code));
      stream.resume();
    } else {
      client.makeUnaryRequest(...request, options, (error) => resolve(error?.code ?? Code.OK));
    }
  });
}

describe("the protos", () => {
  it("define services, whose methods are all called below", () => {
    expect(services.length).toBeGreaterThanOrEqual(7);
    expect(methods.length).toBeGreaterThanOrEqual(28);
    // `call` knows no streams in both directions.
    expect(methods.every(({ method }) => !(method.requestStream && method.responseStream))).toBe(
      true,
    );
  });

  it("leave no field of a request to say which company or who calls", () => {
    for (const { path, method } of methods) {
      if (IN_OWN_NAME.includes(BETWEEN_SERVICES[path]?.scope ?? "")) continue;
      const { field } = messageType.parse(method.requestType.type);
      const names = field.map(({ name }) => name);
      const suspicious = names.filter((name) => /company|tenant|actor|principal|scope/.test(name));
      expect([path, suspicious]).toEqual([path, []]);
    }
  });
});

describe.each(methods)("$path", ({ method }) => {
  it.each(BAD_TOKENS)("is UNAUTHENTICATED with %s", async (_what, makeToken) => {
    const token = await makeToken(audienceOf(method.path));
    expect(await call(method, token)).toBe(Code.UNAUTHENTICATED);
  });

  it("lets a good token in, and refuses one without scopes", async () => {
    const token = await goodFor(method.path);
    const good = await call(method, token);
    expect([Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.UNIMPLEMENTED]).not.toContain(good);
    const none = await goodFor(method.path, { scopes: [] });
    expect(await call(method, none)).toBe(Code.PERMISSION_DENIED);
  });
});

describe("health and reflection", () => {
  it("are open to everybody", async () => {
    for (const domain of clients.keys()) {
      const path = "/grpc.health.v1.Health/Check";
      const client = clients.get(domain);
      const code = await new Promise((resolve) => {
        const pass = (bytes: Buffer): Buffer => bytes;
        client?.makeUnaryRequest(path, pass, pass, Buffer.alloc(0), (error) =>
          resolve(error?.code ?? Code.OK),
        );
      });
      expect([domain, code]).toEqual([domain, Code.OK]);
    }
  });
});

describe("the company of a token", () => {
  it("is the only one that counts, whatever the metadata says", async () => {
    await createWorkflow(system, { name: "Of Acme" });
    await createWorkflow(system, { name: "Of Globex" }, { key: system.globex.key });
    const plain = await listWorkflows({});
    const misleading = await listWorkflows({
      "company-id": system.globex.id,
      "x-company-id": system.globex.id,
      "x-api-key": system.globex.key,
    });
    expect(misleading).toEqual(plain);
    expect(plain).toContain("Of Acme");
    expect(plain).not.toContain("Of Globex");
  });
});

async function listWorkflows(headers: Readonly<Record<string, string>>): Promise<string[]> {
  const metadata = new Metadata();
  const token = await goodFor(WorkflowsServiceService.listWorkflows.path);
  metadata.set("authorization", `Bearer ${token}`);
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const { path, requestSerialize, responseDeserialize } = WorkflowsServiceService.listWorkflows;
  const request = ListWorkflowsRequest.fromPartial({ page: { limit: 100 } });
  return new Promise((resolve, reject) => {
    clients
      .get("workflows")
      ?.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        (error, list) => {
          if (error === null) resolve(list?.workflows.map(({ name }) => name) ?? []);
          else reject(error);
        },
      );
  });
}
