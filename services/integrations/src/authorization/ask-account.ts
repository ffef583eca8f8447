import { fill, placeholdersOf, readPath } from "@workflow/catalog";
import type {
  ConnectionFields,
  Credentials,
  OAuthAuth,
  ProviderManifest,
  Verdict,
} from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type { GrantedAccess } from "../connections/authorization-flow.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { rebase } from "./oauth-endpoints.ts";

/** The known facts about an account right after its authorization. */
export type FreshGrant = Omit<GrantedAccess, "externalAccountId">;

/** Asks a provider's verification about an account: its id, and fields. */
export type FindAccount = (
  provider: ProviderManifest,
  access: { companyId: string; fields: ConnectionFields; credentials: Credentials },
) => Promise<Verdict>;

const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Completes a grant with facts that only the provider has. The account is authorized already: when the
 * verification gets no answer now, the id stays unknown until a later verification. An id that came
 * with the callback alone must be confirmed, because anybody can call the callback.
 *
 * @param baseUrl the operator's `<PROVIDER>_OAUTH_BASE_URL`
 * @throws AppError UPSTREAM_ERROR without an answer that later requests need
 * @throws AuthorizationRefusedError when the account is not the one that came with the callback
 */
export async function describeAccount(
  { providerHttp, findAccount }: { providerHttp: ProviderHttp; findAccount: FindAccount },
  {
    provider,
    companyId,
    baseUrl,
  }: { provider: ProviderManifest; companyId: string; baseUrl?: string | undefined },
  grant: FreshGrant,
): Promise<GrantedAccess> {
  const { auth } = provider;
  const accountField = auth.kind === "oauth" ? auth.accountField : undefined;
  const asked =
    auth.kind === "oauth"
      ? await askUserInfo(providerHttp, { auth, companyId, provider: provider.id, baseUrl }, grant)
      : {};
  const fields = { ...grant.fields, ...asked };
  const known = accountField === undefined ? undefined : fields[accountField];
  if (known !== undefined && !needsProof(provider)) {
    return { ...grant, fields, externalAccountId: known };
  }
  const { credentials } = grant;
  const verdict = await findAccount(provider, { companyId, fields, credentials });
  if (verdict.is === "good") {
    const externalAccountId = known ?? verdict.accountId;
    return { ...grant, fields: { ...fields, ...verdict.fields }, externalAccountId };
  }
  if (known === undefined) return { ...grant, fields, externalAccountId: null };
  if (verdict.is === "unknown") throw unknownAccount(provider.id);
  const text = `${provider.name} does not confirm that the account is the one that came back.`;
  throw new AuthorizationRefusedError(text, "wrong_account");
}

/**
 * Whether the account's id comes from a parameter of the callback, while the token does not come from
 * the account's own address.
 */
function needsProof({ auth }: ProviderManifest): boolean {
  if (auth.kind !== "oauth" || auth.accountField === undefined) return false;
  const { accountField, callbackFields = {}, tokenUrl } = auth;
  return accountField in callbackFields && !placeholdersOf(tokenUrl).includes(accountField);
}

/**
 * Reads fields with the access token, such as DocuSign's accounts. Requests need them, and nothing
 * reads them later.
 *
 * @throws AppError UPSTREAM_ERROR without an answer; the attempt stays open
 */
async function askUserInfo(
  http: ProviderHttp,
  target: { auth: OAuthAuth; companyId: string; provider: string; baseUrl: string | undefined },
  { fields, credentials }: FreshGrant,
): Promise<Record<string, string>> {
  const { userInfo } = target.auth;
  if (userInfo === undefined) return {};
  const { companyId, provider } = target;
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${credentials["accessToken"] ?? ""}`,
  };
  const filled = fill(userInfo.url, fields);
  const url = target.baseUrl === undefined ? filled : rebase(filled, target.baseUrl);
  try {
    const answer = await http.sendProviderRequest(
      { method: "GET", url, headers, body: undefined },
      { companyId, provider, bytesMax: ANSWER_BYTES_MAX },
    );
    const asked = Object.fromEntries(
      Object.entries(userInfo.fields).flatMap(([name, path]) => {
        const value = readPath(answer.body, path);
        const isText = typeof value === "string" || typeof value === "number";
        return isText && value !== "" ? [[name, String(value)]] : [];
      }),
    );
    const isGood = answer.status >= 200 && answer.status <= 299;
    const { accountField } = target.auth;
    if (isGood && (accountField === undefined || accountField in asked)) return asked;
  } catch (error) {
    if (!(error instanceof ProviderCallError)) throw error;
    throw unknownAccount(provider, error);
  }
  throw unknownAccount(provider);
}

function unknownAccount(provider: string, cause?: unknown): AppError {
  const text = `${provider} does not say whose account it is; authorize it once more.`;
  return new AppError("UPSTREAM_ERROR", text, { cause });
}
