import { answerObjects } from "@workflow/service-gateway/answer-objects";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { HeaderChecker } from "./answer-headers.ts";
import type { ReceivedHeaders } from "./answer-headers.ts";
import type { DescribedOperation, Description } from "./description.ts";

/** The answer to a request. */
export interface ReceivedAnswer {
  method: string;
  /** The path of the address, as the test sent it. */
  pathname: string;
  status: number;
  headers: ReceivedHeaders;
  /** The body; null where the test has not read it to its end. */
  body: string | null;
}

/** The description of an answer, and the differences from it. */
export interface Verdict {
  /** The operation, status and code: `GET /workflows/{id} 404 NOT_FOUND`; a success has no code. */
  seen: string;
  problems: string[];
}

/** Longer bodies are checked by their heads alone. */
const BODY_CHARS_MAX = 1024 * 1024;

/**
 * Compares answers with the description of the API: the status, the content type and the body of each has
 * to be described for its operation. Schemas are compiled when they are first needed.
 */
export class AnswerChecker {
  readonly #description: Description;
  readonly #ajv = createAjv();
  readonly #headers: HeaderChecker;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(description: Description) {
    this.#description = description;
    const document = structuredClone(description.document);
    closeAnswers(document);
    this.#ajv.addSchema(document, "description");
    this.#headers = new HeaderChecker(description, this.#ajv);
  }

  /** The operation; null for an unknown path or method. */
  check(answer: ReceivedAnswer): Verdict | null {
    const operation = this.#description.find(answer.method, answer.pathname);
    if (operation === undefined) return null;
    // A read that changes something has no HEAD, and a 405 belongs to no operation.
    if (answer.status === 405) return null;
    const head = `${operation.name} ${answer.status}`;
    const fail = (problem: string): Verdict => ({
      seen: head,
      problems: [`${answer.method} ${answer.pathname} → ${head}: ${problem}`],
    });
    const types = operation.responses.get(String(answer.status));
    if (types === undefined) return fail("the description does not know this status");
    const { status, headers } = answer;
    const wrong = this.#headers.check(operation, status, headers);
    if (wrong.length > 0) return fail(wrong.join("; "));
    if (answer.method === "HEAD") return { seen: head, problems: [] };
    const contentType = headers.get("content-type");
    if (types.length === 0 && contentType === null) {
      return answer.body ? fail("a body is not described") : { seen: head, problems: [] };
    }
    const type = contentType?.split(";")[0]?.trim() ?? "none";
    if (!types.includes(type)) {
      return fail(`the content type is ${type}, described are ${types.join(", ") || "none"}`);
    }
    const { body } = answer;
    const isJson = type === "application/json";
    // A file or a stream may have nothing to tell.
    if (isJson && body === "") return fail("the body that is described is missing");
    if (body === null || body.length > BODY_CHARS_MAX) return { seen: head, problems: [] };
    if (!isJson) {
      return isTold(type, body) ? { seen: head, problems: [] } : fail(`the body is no ${type}`);
    }
    const value: unknown = JSON.parse(body);
    const code = codeOf(value);
    const problems = this.#violations(operation, answer.status, type, value);
    if (problems.length > 0) {
      return fail(`${problems.join("; ")}. The body begins ${body.slice(0, 400)}`);
    }
    return { seen: code === undefined ? head : `${head} ${code}`, problems: [] };
  }

  #violations(
    { path, method }: DescribedOperation,
    status: number,
    type: string,
    value: unknown,
  ): string[] {
    const at = ["paths", path, method, "responses", String(status)];
    // Operations share errors, which are compiled once.
    const pointer = this.#description.resolve([...at, "content", type, "schema"]);
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `description#${pointer}` });
      this.#validators.set(pointer, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).slice(0, 5).map(explain);
  }
}

/** Clients have to expect new members; here a member without a description is a fault. */
function closeAnswers(document: object): void {
  for (const schema of answerObjects(document)) schema["additionalProperties"] ??= false;
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  addFormats.default(ajv);
  return ajv;
}

/** Whether a text fits a type that consists of lines; any text fits other types, such as CSV. */
function isTold(type: string, body: string): boolean {
  const lines = body.split("\n").filter((line) => line !== "");
  if (type === "application/jsonl") return lines.every(isJsonText);
  if (type !== "text/event-stream") return true;
  return lines.every((line) => {
    const [, field = "", value = ""] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    return field === "data" ? isJsonText(value) : ["", "event", "id", "retry"].includes(field);
  });
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The code of an error's envelope. */
function codeOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("error" in value)) return undefined;
  const { error } = value;
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

function explain({
  instancePath,
  message = "is wrong",
  params,
}: {
  instancePath: string;
  message?: string;
  params: Record<string, unknown>;
}): string {
  const more = params["additionalProperty"] ?? params["allowedValues"] ?? params["missingProperty"];
  return `${instancePath || "the body"} ${message}${more === undefined ? "" : ` (${JSON.stringify(more)})`}`;
}
