import { ConnectionError, createClient, isApiError, WorkflowError } from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";

const DEFAULT_BASE_URL = "http://localhost:8080/api/v1";

/** Something that a person has to put right. Its message is all that is printed. */
export class ExampleError extends Error {
  override readonly name = "ExampleError";
}

/** What an example works with. */
export interface ExampleContext {
  client: WorkflowClient;
  /** The address of the API, without a slash at its end. */
  baseUrl: string;
  /** The value of a setting. Throws ExampleError with the hint when it is not set. */
  setting: (name: string, hint: string) => string;
}

/**
 * Runs an example with the client that API_KEY and BASE_URL describe, and sets the exit code: 0 when it ends well,
 * 1 when it throws. What the service refuses, and what a person has to put right, is printed as a sentence.
 *
 * @param scopes what the key has to be allowed, as words of one argument of create-api-key
 */
export async function runExample(
  scopes: string,
  example: (context: ExampleContext) => Promise<void>,
): Promise<void> {
  const baseUrl = (process.env["BASE_URL"] || DEFAULT_BASE_URL).replace(/\/+$/, "");
  try {
    const apiKey = setting(
      "API_KEY",
      "npm start shows a key on its first start; another one comes from\n" +
        `npm run admin -- create-api-key --company ID --name example --scopes ${scopes}`,
    );
    await example({ client: createClient({ baseUrl, apiKey }), baseUrl, setting });
  } catch (error) {
    console.error(explain(error, baseUrl));
    process.exitCode = 1;
  }
}

function setting(name: string, hint: string): string {
  const value = process.env[name] ?? "";
  if (value === "") throw new ExampleError(`${name} is not set. ${hint}`);
  return value;
}

/** The sentence for an error that an example expects. Throws any other one. */
function explain(error: unknown, baseUrl: string): string {
  if (error instanceof ExampleError) return error.message;
  if (error instanceof ConnectionError) {
    return `${baseUrl} cannot be reached. Is npm start running there?`;
  }
  if (isApiError(error)) {
    const problems = error.problems.map(({ path, message }) => `\n  ${path.join(".")} ${message}`);
    return `The service answered ${error.status} ${error.code}: ${error.message}${problems.join("")}`;
  }
  if (error instanceof WorkflowError) return error.message;
  // A key or an address that cannot be one.
  if (error instanceof TypeError && error.stack?.includes("createClient") === true) {
    return error.message;
  }
  throw error;
}
