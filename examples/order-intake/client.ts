/** The few fields of the API's answers that the example looks at. */
export interface Workflow {
  id: string;
  name: string;
  status: "draft" | "active" | "paused" | "archived";
}

export interface StepResult {
  stepId: string;
  path: string;
  type: string;
  status: string;
  durationMs: number | null;
  error: { code: string; message: string } | null;
}

export interface Run {
  id: string;
  status: string;
  durationMs: number | null;
  output: unknown;
  error: { code: string; message: string } | null;
  stepResults: StepResult[];
}

interface Envelope<Data> {
  success: boolean;
  data: Data;
  error?: { code: string; message: string; details?: unknown };
}

/** An answer other than success, or none. */
export class ApiError extends Error {
  override readonly name = "ApiError";
}

/** Calls the REST API with a key. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#apiKey = apiKey;
  }

  /** Returns `data` of the answer. Throws ApiError saying what the service answered. */
  async call<Data>(method: string, path: string, body?: unknown): Promise<Data> {
    const response = await this.#send(method, path, body);
    // The service's contract is trusted here; a client of your own may want to check it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const envelope = (await response.json()) as Envelope<Data>;
    if (envelope.success) return envelope.data;
    const { code = "", message = "", details } = envelope.error ?? {};
    const more = details === undefined ? "" : ` ${JSON.stringify(details)}`;
    throw new ApiError(`${method} ${path}: ${response.status} ${code}: ${message}${more}`);
  }

  async #send(method: string, path: string, body: unknown): Promise<Response> {
    try {
      return await fetch(this.#baseUrl + path, {
        method,
        headers: { "x-api-key": this.#apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      const hint = "Is npm start running there?";
      throw new ApiError(`${this.#baseUrl} cannot be reached. ${hint}`, { cause });
    }
  }
}
