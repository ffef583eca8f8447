import { parseSecretHosts, secretKeyProblem, secretValueProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { HostList } from "@workflow/proto/integrations/v1/secrets";
import { z } from "zod";

/** What the description says of keys. */
export const SECRET_KEY_META = {
  pattern: "^[A-Z][A-Z0-9_]*$",
  maxLength: 64,
  examples: ["API_KEY"],
};

/**
 * Anything goes here, a missing field included: `requireFields` checks them, because what is wrong
 * with these is a VALIDATION_ERROR (D3).
 */
const secretKey = z
  .unknown()
  .optional()
  .describe("Upper snake case that starts with a letter, at most 64 characters.")
  .meta({ override: { type: "string", ...SECRET_KEY_META } });
const secretValue = z
  .unknown()
  .optional()
  .describe("1 to 8,192 characters; no answer ever shows it.")
  .meta({
    override: { type: "string", minLength: 1, maxLength: 8_192 },
    examples: ["sk_live_9xQ2"],
  });
const allowedHosts = z
  .unknown()
  .optional()
  .describe(
    "The only hosts that the value may be sent to, 1 to 20 of api.example.com or *.example.com; " +
      "null for any. Without it: any for a new secret, what was for another value.",
  )
  .meta({
    override: {
      type: ["array", "null"],
      items: { type: "string", maxLength: 255 },
      minItems: 1,
      maxItems: 20,
    },
    examples: [["api.example.com"]],
  });

/** The body of a new secret. */
export const newSecret = z.object({ key: secretKey, value: secretValue, allowedHosts }).meta({
  id: "NewSecret",
  description: "A new secret.",
  override: { required: ["key", "value"] },
});

/** The body of a secret that gets another value. */
export const otherSecret = z.object({ value: secretValue, allowedHosts }).meta({
  id: "SecretValue",
  description: "Another value of a secret.",
  override: { required: ["value"] },
});

const PROBLEM_OF = { key: secretKeyProblem, value: secretValueProblem };

/** The texts of a body, and its hosts when it says anything of them; an empty list means any host. */
type SecretFields<Field extends string> = Record<Field, string> & { allowedHosts?: HostList };

/**
 * The fields of a body.
 *
 * @throws AppError VALIDATION_ERROR with every problem; neither message nor details quote a value
 */
export function requireFields<const Field extends keyof typeof PROBLEM_OF>(
  body: Readonly<Partial<Record<Field | "allowedHosts", unknown>>>,
  fields: readonly Field[],
): SecretFields<Field>;
export function requireFields(
  body: Readonly<Record<string, unknown>>,
  fields: readonly (keyof typeof PROBLEM_OF)[],
): Record<string, string | HostList> {
  const violations: Violation[] = [];
  const given: Record<string, string | HostList> = {};
  for (const field of fields) {
    const value = body[field];
    const message = PROBLEM_OF[field](value);
    if (message !== null) violations.push({ path: [field], message });
    else if (typeof value === "string") given[field] = value;
  }
  const hosts = body["allowedHosts"];
  if (hosts === null) given["allowedHosts"] = { hosts: [] };
  else if (hosts !== undefined) {
    const parsed = parseSecretHosts(hosts);
    if (parsed.ok) given["allowedHosts"] = { hosts: [...parsed.hosts] };
    else violations.push(...parsed.problems.map(hostViolation));
  }
  const [first] = violations;
  if (first === undefined) return given;
  const text = `The secret is not valid: ${first.path.join(".")} ${first.message}.`;
  throw new AppError("VALIDATION_ERROR", text, { violations });
}

function hostViolation({ path, message }: Violation): Violation {
  return { path: ["allowedHosts", ...path], message };
}
