import { isUuid, newUuid } from "@workflow/db";
import { createTokenSigner } from "@workflow/rpc";
import { SCOPES } from "@workflow/service-gateway/admin";
import { prepareDataDir } from "../data-dir.ts";
import { ensureSigningKey } from "../keys.ts";
import type { Command } from "./command.ts";
import type { AdminSettings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

const TTL_MAX_SECONDS = 30 * 24 * 60 * 60;

/** Needs the key only, not the database: a token can also be minted for a system elsewhere. */
export const mintTokenCommand: Command = {
  summary: "Signs a token for a caller of the gRPC services, valid for --ttl seconds (3600).",
  flags: {
    company: { placeholder: "ID" },
    scopes: { placeholder: "SCOPE,…" },
    ttl: { placeholder: "SECONDS", default: "3600" },
  },
  async run(settings, values) {
    const companyId = values.text("company");
    if (!isUuid(companyId)) throw new UsageError("--company must be the id of a company");
    const scopes = values.listOf("scopes", SCOPES);
    const ttlSeconds = values.wholeNumber("ttl", 1, TTL_MAX_SECONDS);
    const signer = createTokenSigner({ privateKeyPem: await signingKey(settings) });
    const principal = { type: "token", id: newUuid(), name: "admin command" } as const;
    const token = await signer.sign({ companyId, principal, scopes }, ttlSeconds);
    return { json: { token }, text: token };
  },
};

async function signingKey(settings: AdminSettings): Promise<string> {
  const { INTERNAL_TOKEN_PRIVATE_KEY, DATA_DIR } = settings;
  return INTERNAL_TOKEN_PRIVATE_KEY ?? ensureSigningKey(await prepareDataDir(DATA_DIR));
}
