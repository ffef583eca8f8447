import { readFile } from "node:fs/promises";
import { z } from "zod";

/** The description of the API that the gateway serves. */
export const DESCRIPTION_FILE = new URL("../../../services/gateway/openapi.json", import.meta.url);

/** The story from which the examples come. */
export const EXAMPLES_FILE = new URL("../../../services/gateway/examples.json", import.meta.url);

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

const reference = z.looseObject({ $ref: z.string().optional() });
const response = reference.extend({ content: z.record(z.string(), z.unknown()).optional() });
const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  responses: z.record(z.string(), response),
});
const servers = z.tuple([z.looseObject({ url: z.string() })]).optional();
const documentSchema = z.looseObject({
  servers,
  paths: z.record(
    z.string(),
    z.looseObject({
      servers,
      ...Object.fromEntries(METHODS.map((method) => [method, operation.optional()])),
    }),
  ),
});

/** A header of an answer. */
export interface DescribedHeader {
  /** Whether the header is always there. */
  isRequired: boolean;
  isInteger: boolean;
  /** The JSON pointer of its schema, escaped for a URI. */
  schema: string;
}

/** The answers of an operation. */
export interface DescribedOperation {
  /** The name, `GET /workflows/{id}`, with the path of the document. */
  name: string;
  operationId: string;
  summary: string;
  description: string;
  path: string;
  method: string;
  /** The content types of each status. */
  responses: ReadonlyMap<string, readonly string[]>;
  /** The headers of each status, by their names. */
  headers: ReadonlyMap<string, ReadonlyMap<string, DescribedHeader>>;
  /** The error codes of each status. */
  codes: ReadonlyMap<string, readonly string[]>;
}

/** A node at the end of a path. */
interface Followed {
  at: readonly string[];
  value: unknown;
}

/** The document, which finds the operation of a request. */
export class Description {
  readonly document: object;
  readonly operations: readonly DescribedOperation[];
  /** The names of all headers in the description of some answer. */
  readonly headerNames: readonly string[];
  readonly #byPattern: readonly { pattern: RegExp; operation: DescribedOperation }[];
  /** The targets of references: thousands of references name the same few hundred targets. */
  readonly #followed = new Map<string, Followed>();

  constructor(document: object) {
    this.document = document;
    const parsed = documentSchema.parse(document);
    const found = Object.entries(parsed.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const described = operation.safeParse(item[method]);
        if (!described.success) return [];
        const base = (item.servers ?? parsed.servers)?.[0].url ?? "";
        const { operationId, summary, description } = described.data;
        const name = `${method.toUpperCase()} ${path}`;
        const answers = Object.keys(described.data.responses).map((status) => ({
          status,
          at: ["paths", path, method, "responses", status],
        }));
        const responses = new Map(answers.map(({ status, at }) => [status, this.#typesOf(at)]));
        const headers = new Map(answers.map(({ status, at }) => [status, this.#headersOf(at)]));
        const codes = new Map(
          answers
            .filter(({ status }) => /^[45]/.test(status))
            .map(({ status, at }) => [status, this.#codesOf(at)]),
        );
        const words = { operationId, summary, description };
        return [{ base, operation: { name, ...words, path, method, responses, headers, codes } }];
      }),
    );
    this.operations = found.map(({ operation: each }) => each);
    this.headerNames = [
      ...new Set(this.operations.flatMap(({ headers }) => [...headers.values()].flatMap(namesOf))),
    ];
    // A fixed segment goes before a parameter, as in the gateway.
    this.#byPattern = found
      .toSorted((one, other) => countParameters(one.operation) - countParameters(other.operation))
      .map(({ base, operation: each }) => ({
        pattern: toPattern(base.replace(/\/$/, "") + each.path),
        operation: each,
      }));
  }

  /** The operation of a request; undefined when the document has none. */
  find(method: string, pathname: string): DescribedOperation | undefined {
    const wanted = method === "HEAD" ? "get" : method.toLowerCase();
    return this.#byPattern.find(
      ({ pattern, operation: { method: each } }) => each === wanted && pattern.test(pathname),
    )?.operation;
  }

  /**
   * The JSON pointer, escaped for a URI, of the node at a path; references on the way are followed.
   */
  resolve(path: readonly string[]): string {
    return pointerOf(this.#follow(path).at);
  }

  #typesOf(path: readonly string[]): string[] {
    return Object.keys(memberOf(this.#follow(path).value, "content") ?? {});
  }

  #headersOf(path: readonly string[]): Map<string, DescribedHeader> {
    const names = Object.keys(memberOf(this.#follow(path).value, "headers") ?? {});
    return new Map(
      names.map((name) => {
        const at = [...path, "headers", name];
        const { value } = this.#follow(at);
        const isRequired = memberOf(value, "required") === true;
        const isInteger = memberOf(memberOf(value, "schema"), "type") === "integer";
        return [name, { isRequired, isInteger, schema: this.resolve([...at, "schema"]) }];
      }),
    );
  }

  /** The names of examples are the codes, one for each. */
  #codesOf(path: readonly string[]): string[] {
    const { value } = this.#follow([...path, "content", "application/json", "examples"]);
    return Object.keys(value ?? {});
  }

  #follow(path: readonly string[]): Followed {
    let at: readonly string[] = [];
    let value: unknown = this.document;
    for (const segment of path) {
      at = [...at, segment];
      value = memberOf(value, segment);
      const link = memberOf(value, "$ref");
      if (typeof link === "string") ({ at, value } = this.#followLink(link));
    }
    return { at, value };
  }

  #followLink(link: string): Followed {
    const known = this.#followed.get(link);
    if (known !== undefined) return known;
    const followed = this.#follow(link.replace("#/", "").split("/").map(unescape));
    this.#followed.set(link, followed);
    return followed;
  }
}

/** Reads the description from the sources. */
export async function readDescription(): Promise<Description> {
  const document = z.looseObject({}).parse(JSON.parse(await readFile(DESCRIPTION_FILE, "utf8")));
  return new Description(document);
}

/** Requests of the story, in their order. */
export const toldSchema = z.array(
  z.object({
    operationId: z.string(),
    name: z.string(),
    params: z.record(z.string(), z.string()),
    query: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
    status: z.int(),
    contentType: z.string().nullable(),
    answer: z.unknown(),
  }),
);

/** A request of the story behind the examples, and its answer, as they went over the wire. */
export type Told = z.output<typeof toldSchema>[number];

/** Reads the story from the sources. */
export async function readExamples(): Promise<Told[]> {
  return toldSchema.parse(JSON.parse(await readFile(EXAMPLES_FILE, "utf8")));
}

function namesOf(headers: ReadonlyMap<string, DescribedHeader>): string[] {
  return [...headers.keys()];
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function countParameters({ path }: DescribedOperation): number {
  return path.split("{").length;
}

function toPattern(path: string): RegExp {
  const source = path
    .split(/\{\w+\}/)
    .map((fixed) => fixed.replaceAll(/[^\w/-]/g, String.raw`\$&`))
    .join("[^/]+");
  return new RegExp(`^${source}/?$`);
}

function pointerOf(path: readonly string[]): string {
  return path
    .map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`)
    .join("");
}

function unescape(part: string): string {
  return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
}
