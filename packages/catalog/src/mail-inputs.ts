import { z } from "zod";
import { text } from "./action-input.ts";
import type { ActionInput, InputTraits } from "./action-input.ts";
import { InvalidInputError } from "./invalid-input-error.ts";
import { hasControls, parseMailAddress, parseMailAddresses } from "./mail-address.ts";
import type { MailAddress } from "./mail-address.ts";

/** An attachment whose content is fetched. */
export interface MailFile {
  filename: string;
  /** The content in base64. */
  content: string;
  contentType: string | undefined;
}

type Inputs = Readonly<Record<string, unknown>>;

const RECIPIENTS_MAX = 50;
const ONE_ADDRESS = "must be one e-mail address such as ada@example.com or Ada <ada@example.com>";
const ADDRESSES = "must be e-mail addresses: an array, or a text with commas between them";

/** One address, with or without a name. */
export function mailAddress(key: string, traits: InputTraits = {}): ActionInput {
  const isAddress = (value: string) => parseMailAddress(value) !== null;
  return text(key, {
    schema: z.string().refine(isAddress, ONE_ADDRESS),
    description: "ada@example.com or Ada <ada@example.com>",
    ...traits,
  });
}

/** Addresses as an array, or as a text with commas between them. */
export function mailAddresses(
  key: string,
  { max = RECIPIENTS_MAX, ...traits }: InputTraits & { max?: number } = {},
): ActionInput {
  const areAddresses = (value: unknown) => parseMailAddresses(value) !== null;
  const areFew = (value: unknown) => (parseMailAddresses(value)?.length ?? 0) <= max;
  const schema = z
    .union([z.string(), z.array(z.string())], ADDRESSES)
    .refine(areAddresses, ADDRESSES)
    .refine(areFew, `must name at most ${max} addresses`);
  return {
    ...text(key, { description: "One address, several with commas, or an array", ...traits }),
    type: "array",
    schema,
  };
}

/** A subject: one line. */
export function mailSubject(traits: InputTraits = {}): ActionInput {
  const schema = z
    .string()
    .max(998)
    .refine((value) => !hasControls(value), "must be a single line without control characters");
  return text("subject", { schema, ...traits });
}

/**
 * The addresses of an input; empty where the input is missing.
 *
 * @throws InvalidInputError
 */
export function readAddresses(inputs: Inputs, key: string): MailAddress[] {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  if (value === undefined || value === null) return [];
  const addresses = parseMailAddresses(value);
  if (addresses === null) throw new InvalidInputError(key, ADDRESSES);
  return addresses;
}

/**
 * The files of an input; empty where the input is missing.
 *
 * @throws InvalidInputError for a file that was not fetched
 */
export function readMailFiles(inputs: Inputs, key: string): MailFile[] {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  if (value === undefined || value === null) return [];
  const files = z.array(fetchedFile).safeParse(value);
  if (files.success) return files.data.map((file) => ({ ...file, contentType: file.contentType }));
  throw new InvalidInputError(key, "must have a filename and content in base64 each");
}

const fetchedFile = z.object({
  filename: z.string(),
  content: z.string(),
  contentType: z.string().optional(),
});
