import { unchanged } from "@workflow/audit";
import { isUuid, newUuid } from "@workflow/db";
import { createTokenSigner, MINTED_LIFE_SECONDS_MAX, TOKEN_AUDIENCES } from "@workflow/rpc";
import { SCOPES } from "@workflow/service-gateway/admin";
import { prepareDataDir } from "../data-dir.ts";
import { ensureSigningKey } from "../keys.ts";
import type { Command } from "./command.ts";
import { recordEvent } from "./record-event.ts";
import type { AdminSettings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

/** A token can also be minted for a system elsewhere. Then only the key is needed. */
export const mintTokenCommand: Command = {
  summary:
    "Signs a token for a caller of the gRPC services --audience (all), valid for --ttl seconds (3600).",
  flags: {
    company: { placeholder: "ID" },
    scopes: { placeholder: "SCOPE,…" },
    audience: { placeholder: "SERVICE,…", default: TOKEN_AUDIENCES.join(",") },
    ttl: { placeholder: "SECONDS", default: "3600" },
  },
  async run(settings, values) {
    const companyId = values.text("company");
    if (!isUuid(companyId)) throw new UsageError("--company must be the id of a company");
    const scopes = values.listOf("scopes", SCOPES);
    const audience = values.listOf("audience", TOKEN_AUDIENCES);
    const ttlSeconds = values.wholeNumber("ttl", 1, MINTED_LIFE_SECONDS_MAX);
    const privateKeyPem = await signingKey(settings);
    const signer = createTokenSigner({ issuer: "admin", privateKeyPem });
    // The token's name is also its holder's, so the audit log can tell what was done with it.
    const jti = newUuid();
    const principal = { type: "token", id: jti, name: "admin command" } as const;
    const expiresAt = new Date((Math.floor(Date.now() / 1000) + ttlSeconds) * 1000);
    const token = await signer.sign(
      { companyId, principal, scopes },
      { audience, ttlSeconds, jti },
    );
    const warnings = await recordMinting(settings, {
      companyId,
      jti,
      scopes,
      audience,
      ttlSeconds,
    });
    return { json: { token, jti, expiresAt: expiresAt.toISOString() }, text: token, warnings };
  },
};

interface MintedToken {
  companyId: string;
  jti: string;
  scopes: readonly string[];
  audience: readonly string[];
  ttlSeconds: number;
}

/** With only a key, the system is elsewhere, and so is its audit log. */
async function recordMinting(settings: AdminSettings, token: MintedToken): Promise<string[]> {
  const { companyId, jti, scopes, audience, ttlSeconds } = token;
  const { INTERNAL_TOKEN_PRIVATE_KEY, DATABASE_URL } = settings;
  if (INTERNAL_TOKEN_PRIVATE_KEY !== undefined && DATABASE_URL === undefined) {
    return ["Without DATABASE_URL the audit log was not told of this token."];
  }
  await recordEvent(settings, {
    companyId,
    action: "token.minted",
    resourceType: "token",
    resourceId: jti,
    changes: {
      scopes: { from: null, to: scopes.join(" ") },
      audience: { from: null, to: audience.join(" ") },
      ttlSeconds: { from: null, to: ttlSeconds },
      ...unchanged({ companyId }),
    },
  });
  return [];
}

async function signingKey(settings: AdminSettings): Promise<string> {
  const { INTERNAL_TOKEN_PRIVATE_KEY, DATA_DIR } = settings;
  return INTERNAL_TOKEN_PRIVATE_KEY ?? ensureSigningKey(await prepareDataDir(DATA_DIR), "admin");
}
