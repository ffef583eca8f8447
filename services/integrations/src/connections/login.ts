import { buildLogin, findFailure, loginOf, MissingFieldError, readLogin } from "@workflow/catalog";
import type { ConnectionAccess, LoginToken, ProviderManifest, Verdict } from "@workflow/catalog";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { CHECK_TIMEOUT_MS } from "./limits.ts";

/** The provider gave no token for the keys. */
export class LoginFailedError extends Error {
  override readonly name = "LoginFailedError";
  readonly verdict: Exclude<Verdict, { is: "good" }>;

  constructor(verdict: Exclude<Verdict, { is: "good" }>, options?: ErrorOptions) {
    super(verdict.message, options);
    this.verdict = verdict;
  }
}

/** Statuses of a login that mean wrong keys. */
const BAD_STATUSES = new Set([400, 401, 403]);
const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Exchanges keys for a token when the provider wants a token; null when it accepts the keys themselves.
 *
 * @throws LoginFailedError whose message may repeat what was sent
 */
export async function logIn(
  http: ProviderHttp,
  provider: ProviderManifest,
  { companyId, access }: { companyId: string; access: ConnectionAccess },
): Promise<LoginToken | null> {
  const login = loginOf(provider);
  if (login === undefined) return null;
  try {
    const request = buildLogin(provider, login, access, http.baseUrlOf(provider.id));
    const answer = await http.sendProviderRequest(request, {
      companyId,
      provider: provider.id,
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: CHECK_TIMEOUT_MS,
    });
    const failure = findFailure(provider, answer, Date.now());
    if (failure !== null) {
      const { code, message, limited, badCredentials, status } = failure;
      const isBad = badCredentials || (!limited && BAD_STATUSES.has(status));
      throw new LoginFailedError({ is: isBad ? "bad" : "unknown", code, message });
    }
    const token = readLogin(login, answer, Date.now());
    if (token !== null) return token;
    throw new LoginFailedError(unknown("The provider's answer to the login holds no token."));
  } catch (error) {
    if (error instanceof MissingFieldError) {
      throw new LoginFailedError({ is: "bad", code: null, message: error.message });
    }
    if (!(error instanceof ProviderCallError)) throw error;
    throw new LoginFailedError(unknown(error.message), { cause: error });
  }
}

function unknown(message: string): Exclude<Verdict, { is: "good" }> {
  return { is: "unknown", code: null, message };
}
