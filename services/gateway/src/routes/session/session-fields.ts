import { z } from "zod";

/** The size of a body with a password: small, because the sender is not authenticated yet. */
export const CREDENTIAL_BYTES_MAX = 4 * 1024;
const COMPANY_CHARS_MAX = 64;
const PASSWORD_CHARS_MAX = 1_024;
const EMAIL_CHARS_MAX = 254;

/**
 * An e-mail address as a person types it. Its form is not checked: an unknown and a malformed
 * address get the same answer.
 */
export const givenEmail = z
  .string()
  .max(EMAIL_CHARS_MAX, `must have at most ${EMAIL_CHARS_MAX} characters`)
  .transform((text) => text.trim().toLowerCase())
  .describe("The person's e-mail address, whatever its case.")
  .meta({ examples: ["ada@example.com"] });

/** A password to compare with the stored one. The bound keeps the comparison cheap. */
export const givenPassword = z
  .string()
  .max(PASSWORD_CHARS_MAX, `must have at most ${PASSWORD_CHARS_MAX} characters`)
  .meta({ format: "password", examples: ["correct horse battery staple"] });

/** The id of a company; a malformed one matches no company. */
export const givenCompany = z
  .string()
  .max(COMPANY_CHARS_MAX, `must have at most ${COMPANY_CHARS_MAX} characters`)
  .meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] });
