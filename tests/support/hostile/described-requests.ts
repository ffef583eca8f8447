import type { Route } from "@workflow/service-gateway/routes";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { readDescription } from "../description/description.ts";
import type { ApiDocument } from "../api-document.ts";
import { nameOf } from "../route-requests.ts";
import type { WrittenRequest } from "./attacks.ts";

/** Compares requests with the description of the API. */
export class DescribedRequests {
  readonly #document: ApiDocument;
  readonly #ajv = addFormats.default(new Ajv2020({ strict: false }));
  readonly #validators = new Map<string, ValidateFunction>();

  private constructor(document: ApiDocument, whole: object) {
    this.#document = document;
    this.#ajv.addSchema(whole, "description");
  }

  /** Reads the description that the gateway serves. */
  static async read(document: ApiDocument): Promise<DescribedRequests> {
    return new DescribedRequests(document, (await readDescription()).document);
  }

  /** Whether a JSON body, or a single parameter of the query, is one that the description does not allow. */
  refuse(route: Route, { path, body }: WrittenRequest): boolean {
    return this.#refusesBody(route, body) || this.#refusesQuery(route, path);
  }

  #refusesBody(route: Route, body: string | undefined): boolean {
    const { body: schema } = this.#document.operationOf(route);
    if (schema === undefined || body === undefined) return false;
    return !this.#validator(`${nameOf(route)} body`, schema)(JSON.parse(body));
  }

  #refusesQuery(route: Route, path: string): boolean {
    const { parameters } = this.#document.operationOf(route);
    const [, query = ""] = path.split("?");
    return parameters.some(({ in: place, name, schema }) => {
      const texts = new URLSearchParams(query).getAll(name);
      if (place !== "query" || texts.length !== 1) return false;
      const validate = this.#validator(`${nameOf(route)} query ${name}`, schema);
      return !texts.flatMap(readings).some((value) => validate(value));
    });
  }

  #validator(name: string, schema: object): ValidateFunction {
    const known = this.#validators.get(name) ?? this.#ajv.compile(withReferences(schema));
    this.#validators.set(name, known);
    return known;
  }
}

/** A schema whose references lead into the description. */
function withReferences(schema: object): object {
  const text = JSON.stringify(schema);
  return JSON.parse(text.replaceAll('"$ref":"#/', '"$ref":"description#/'));
}

/** What a text of a query may stand for. */
function readings(text: string): unknown[] {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  const isBoolean = text === "true" || text === "false";
  return [
    text,
    text.split(","),
    ...(isNumber ? [Number(text)] : []),
    ...(isBoolean ? [text === "true"] : []),
  ];
}
