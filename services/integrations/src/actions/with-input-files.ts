import { inputsOf } from "@workflow/catalog";
import type { ActionManifest } from "@workflow/catalog";
import { ATTACHMENT_LIMITS } from "@workflow/definition";
import { isAppError } from "@workflow/errors";
import { z } from "zod";
import type { FileLoader } from "../files/file-loader.ts";
import type { NamedFile } from "../files/file.ts";
import { invalidInput, StepFailureError } from "./action-failure.ts";
import { assertHostAllowed } from "./host-limits.ts";

/** The shape of a file in the catalog's inputs. */
const givenFile = z.object({
  filename: z.string(),
  contentType: z.string().optional(),
  content: z.string().optional(),
  url: z.string().optional(),
});
const givenFiles = z.array(givenFile);

type Inputs = Readonly<Record<string, unknown>>;

/**
 * Calls an action with the bytes of the files that its inputs name by URL. Providers get only contents,
 * and fetch nothing themselves. Inputs without files cost nothing.
 *
 * @throws StepFailureError INVALID_INPUT naming a file that cannot be fetched; FILE_UNAVAILABLE when a
 * later fetch may succeed
 */
export async function withInputFiles<Result>(
  files: FileLoader,
  call: {
    action: ActionManifest;
    inputs: Inputs;
    companyId: string;
    /** The host limits of the call, since the URL of a file may contain a secret (D66). */
    hostLimits: readonly (readonly string[])[];
    signal: AbortSignal;
  },
  work: (inputs: Inputs) => Promise<Result>,
): Promise<Result> {
  const input = inputsOf(call.action).find(
    ({ key, type }) => type === "file" && Object.hasOwn(call.inputs, key),
  );
  const given = givenFiles.safeParse(input === undefined ? undefined : call.inputs[input.key]);
  if (input === undefined || !given.success) return work(call.inputs);
  for (const { url } of given.data) {
    if (url !== undefined) assertHostAllowed(url, call.hostLimits, "a file's");
  }
  const request = {
    companyId: call.companyId,
    files: given.data.map(toNamedFile),
    path: [input.key],
    bytesMax: ATTACHMENT_LIMITS.bytesMax,
    signal: call.signal,
  };
  let hasBegun = false;
  try {
    return await files.withFiles(request, (loaded) => {
      hasBegun = true;
      const contents = loaded.map(({ filename, contentType, content }) => ({
        filename,
        content: content.toString("base64"),
        ...(contentType === undefined ? {} : { contentType }),
      }));
      return work({ ...call.inputs, [input.key]: contents });
    });
  } catch (error) {
    throw hasBegun ? error : toFailure(error);
  }
}

function toNamedFile({
  filename,
  contentType,
  content,
  url,
}: z.infer<typeof givenFile>): NamedFile {
  const source: NamedFile["source"] =
    url === undefined
      ? { $case: "content", value: Buffer.from(content ?? "", "base64") }
      : { $case: "url", value: url };
  return { filename, contentType, source };
}

function toFailure(error: unknown): unknown {
  if (!isAppError(error)) return error;
  if (error.reason === "BAD_REQUEST") return invalidInput(error.violations);
  const { message, retryAfterMs } = error;
  return new StepFailureError({
    code: "FILE_UNAVAILABLE",
    message,
    details: {},
    retryable: true,
    retryAfterMs,
  });
}
