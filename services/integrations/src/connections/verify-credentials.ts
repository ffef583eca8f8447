import { buildVerification, judgeVerification, MissingFieldError } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest, Verdict } from "@workflow/catalog";
import { AppError, isAppError } from "@workflow/errors";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import { storableText } from "../provider-http/storable-text.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { CHECK_TIMEOUT_MS } from "./limits.ts";
import { LoginFailedError, logIn } from "./login.ts";

const ANSWER_BYTES_MAX = 1024 * 1024;
/** The stored length of a provider's message. */
const MESSAGE_CHARS_MAX = 500;
const CODE_CHARS_MAX = 100;

/**
 * Asks the provider whether credentials are valid. The verdict's message may be shown and stored: it
 * contains nothing of the credentials.
 */
export async function verifyCredentials(
  http: ProviderHttp,
  provider: ProviderManifest,
  { companyId, access }: { companyId: string; access: ConnectionAccess },
): Promise<Verdict> {
  const { verdict, secrets } = await ask(http, provider, companyId, access);
  if (verdict.is === "good") return verdict;
  const { beginning } = scrubberOf(provider, secrets);
  // One character more than the limit shows that the message was cut.
  const clean = await beginning(verdict.message, MESSAGE_CHARS_MAX + 1);
  const code =
    verdict.code === null ? null : storableText(await beginning(verdict.code, CODE_CHARS_MAX));
  return { ...verdict, code, message: storableText(cut(clean)) };
}

/** Asks with the access that is really used. A login adds a token, which answers may repeat as well. */
async function ask(
  http: ProviderHttp,
  provider: ProviderManifest,
  companyId: string,
  access: ConnectionAccess,
): Promise<{ verdict: Verdict; secrets: ConnectionAccess }> {
  let secrets = access;
  try {
    const token = await logIn(http, provider, { companyId, access });
    if (token !== null) secrets = withToken(access, token.accessToken);
    const used = withOwn(http, provider, secrets);
    const request = buildVerification(provider, used, http.baseUrlOf(provider.id));
    if (request === null) return { verdict: { is: "good", accountId: null, fields: {} }, secrets };
    const answer = await http.sendProviderRequest(request, {
      companyId,
      provider: provider.id,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: CHECK_TIMEOUT_MS,
    });
    return { verdict: judgeVerification(provider, answer, Date.now()), secrets: used };
  } catch (error) {
    return { verdict: verdictOf(error), secrets };
  }
}

/** Adds our own credentials. Missing ones are the operator's fault and say nothing about the connection. */
function withOwn(
  http: ProviderHttp,
  provider: ProviderManifest,
  access: ConnectionAccess,
): ConnectionAccess {
  try {
    return http.withOwnCredentials(provider, access);
  } catch (error) {
    if (!(error instanceof MissingFieldError)) throw error;
    throw new AppError("NOT_CONFIGURED", error.message, { cause: error });
  }
}

/** The access with the token of a login. */
function withToken(access: ConnectionAccess, accessToken: string): ConnectionAccess {
  return { fields: access.fields, credentials: { ...access.credentials, accessToken } };
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof LoginFailedError) return error.verdict;
  if (error instanceof MissingFieldError) return { is: "bad", code: null, message: error.message };
  if (isAppError(error) && error.reason === "NOT_CONFIGURED") {
    return { is: "unknown", code: null, message: error.message };
  }
  if (error instanceof ProviderCallError) {
    return { is: "unknown", code: error.code, message: error.message };
  }
  throw error;
}

function cut(text: string): string {
  if (text.length <= MESSAGE_CHARS_MAX) return text;
  return `${text.slice(0, MESSAGE_CHARS_MAX).toWellFormed()}…`;
}
