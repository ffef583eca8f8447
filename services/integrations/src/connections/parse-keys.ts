import { fieldProblem } from "@workflow/catalog";
import type {
  ApiKeyAuth,
  ApiKeyField,
  ConnectionAccess,
  ProviderManifest,
} from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { FIELD_CHARS_MAX, KEY_CHARS_MAX } from "./limits.ts";

/** The keys and fields that a caller enters. */
export interface GivenKeys {
  apiKey: string;
  fields: Readonly<Record<string, string>>;
}

/** Visible ASCII. Credentials go into headers, where other characters are invalid or would end the value. */
const PRINTABLE = /^[\x20-\x7e]+$/;
/** A host name, with an optional port. */
const HOST =
  /^(?=.{1,253}(?::|$))[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/;

/**
 * Separates the entered values of a provider into secrets and fields. A claimed account is neither,
 * because it needs proof.
 *
 * @param stored the values of the connection, which stay unless others are entered; null for a new
 * connection
 * @throws AppError BAD_REQUEST that names every wrong field and quotes none
 */
export function parseKeys(
  provider: ProviderManifest,
  auth: ApiKeyAuth,
  given: GivenKeys,
  stored: ConnectionAccess | null,
): ConnectionAccess {
  const isOther =
    stored !== null && (leadsElsewhere(auth, given, stored) || isOtherAccount(auth, given, stored));
  const kept = isOther ? null : stored;
  const violations: Violation[] = [];
  const problem = (key: string, message: string): void => {
    violations.push({ path: [key], message });
  };
  const wrongKey = secretProblem(given.apiKey);
  if (wrongKey !== null) problem("apiKey", wrongKey);
  const known = new Set(auth.fields.map(({ key }) => key));
  for (const key of Object.keys(given.fields)) {
    if (!known.has(key)) problem(key, `is not a field of ${provider.name}`);
  }
  const fields: Record<string, string> = {};
  const credentials: Record<string, string> = { apiKey: given.apiKey };
  for (const field of auth.fields) {
    const target = field.secret === true ? credentials : fields;
    const before = field.secret === true ? kept?.credentials : kept?.fields;
    const value = valueOf(field, given.fields) ?? before?.[field.key];
    if (value === undefined) {
      if (field.required) problem(field.key, "is required");
      continue;
    }
    const wrong = valueProblem(field, value);
    const isClaim = field.key === auth.accountClaim;
    if (wrong === null && !isClaim) target[field.key] = value;
    if (wrong !== null) problem(field.key, wrong);
  }
  const misformed = fieldProblem(provider, fields);
  if (misformed !== null) problem(misformed, `is not of the form that ${provider.name} has`);
  if (violations.length > 0) throw wrongFields(provider, violations);
  return { fields, credentials };
}

/** The account that a caller claims, as entered; undefined without one. */
export function claimedAccount({ accountClaim }: ApiKeyAuth, given: GivenKeys): string | undefined {
  const value = accountClaim === undefined ? undefined : given.fields[accountClaim];
  return value === "" ? undefined : value;
}

/** An empty text counts as not entered, as in a form. */
function valueOf({ key, form }: ApiKeyField, given: GivenKeys["fields"]): string | undefined {
  const value = Object.hasOwn(given, key) ? given[key] : undefined;
  if (value === undefined || value === "") return undefined;
  return form === "host" ? value.toLowerCase() : value;
}

/**
 * Whether the keys are for another host. Stored secrets are never sent to a host for which they were
 * not entered.
 */
function leadsElsewhere(auth: ApiKeyAuth, given: GivenKeys, stored: ConnectionAccess): boolean {
  return auth.fields.some((field) => {
    const value = field.form === "host" ? valueOf(field, given.fields) : undefined;
    return value !== undefined && value !== stored.fields[field.key];
  });
}

/** Whether the keys are for another account, whose values must not be mixed with the stored ones. */
function isOtherAccount(
  { fields, accountField }: ApiKeyAuth,
  given: GivenKeys,
  stored: ConnectionAccess,
): boolean {
  const field = fields.find(({ key }) => key === accountField);
  const value = field === undefined ? undefined : valueOf(field, given.fields);
  return field !== undefined && value !== undefined && value !== stored.fields[field.key];
}

function valueProblem(field: ApiKeyField, value: string): string | null {
  if (field.options !== undefined && !field.options.includes(value)) {
    return `must be one of ${field.options.join(", ")}`;
  }
  if (field.secret === true) return secretProblem(value);
  if (value.length > FIELD_CHARS_MAX) return `must have at most ${FIELD_CHARS_MAX} characters`;
  if (field.form === "host") {
    // The pattern misses two rules: ports end at 65535, and a name that ends in a number must be an IP
    // address.
    const isHost = HOST.test(value) && URL.canParse(`https://${value}`);
    return isHost ? null : "must be a host name such as example.odoo.com";
  }
  return PRINTABLE.test(value) ? null : "must be printable ASCII characters";
}

function secretProblem(value: string): string | null {
  if (value === "" || value.length > KEY_CHARS_MAX) {
    return `must have 1 to ${KEY_CHARS_MAX.toLocaleString("en")} characters`;
  }
  return PRINTABLE.test(value) ? null : "must be printable ASCII characters";
}

function wrongFields({ name }: ProviderManifest, violations: Violation[]): AppError {
  const [first] = violations;
  const text = `${name} can't be connected: ${first?.path.join(".")} ${first?.message}.`;
  return new AppError("BAD_REQUEST", text, { violations });
}
