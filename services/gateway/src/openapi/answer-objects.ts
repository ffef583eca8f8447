import { isJsonObject } from "@workflow/json";

/** A part of an OpenAPI document. */
type Node = Record<string, unknown>;

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Keywords that contain schemas: by names, in lists, or one. */
const MAPS = ["properties", "patternProperties", "$defs"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLES = ["items", "additionalProperties", "not", "if", "then", "else"];

/**
 * Every object schema with named members that only answers contain. Answers may gain members, which
 * clients must ignore; a request with an unknown member may be refused.
 *
 * @param document an OpenAPI document, whose schemas are returned themselves, not copied
 */
export function answerObjects(document: object): Node[] {
  const whole = toNode(document);
  const operations = Object.values(toNode(whole["paths"])).flatMap((item) =>
    METHODS.map((method) => toNode(toNode(item)[method])),
  );
  const asked = new Reach(whole);
  for (const { requestBody, parameters } of operations) {
    asked.visitMedia(requestBody);
    if (Array.isArray(parameters)) {
      for (const each of parameters) asked.visitSchema(toNode(each)["schema"]);
    }
  }
  const answered = new Reach(whole);
  for (const { responses } of operations) {
    for (const response of Object.values(toNode(responses))) answered.visitMedia(response);
  }
  const ofRequests = new Set(asked.objects);
  return answered.objects.filter((each) => !ofRequests.has(each));
}

/** The objects that can be reached from some parts of a document. */
class Reach {
  readonly objects: Node[] = [];
  readonly #document: Node;
  readonly #seen = new Set<Node>();

  constructor(document: Node) {
    this.#document = document;
  }

  /** The body of a request or an answer. */
  visitMedia(holder: unknown): void {
    const { content } = this.#resolve(holder);
    for (const media of Object.values(toNode(content))) this.visitSchema(toNode(media)["schema"]);
  }

  visitSchema(given: unknown): void {
    const schema = this.#resolve(given);
    if (this.#seen.has(schema)) return;
    this.#seen.add(schema);
    if ("properties" in schema) this.objects.push(schema);
    for (const name of MAPS)
      Object.values(toNode(schema[name])).forEach((each) => this.visitSchema(each));
    for (const name of LISTS) {
      const list = schema[name];
      if (Array.isArray(list)) for (const each of list) this.visitSchema(each);
    }
    for (const name of SINGLES) if (name in schema) this.visitSchema(schema[name]);
  }

  #resolve(given: unknown): Node {
    const node = toNode(given);
    const link = node["$ref"];
    if (typeof link !== "string") return node;
    const names = link.replace("#/", "").split("/");
    const target = names.reduce((part: unknown, name) => toNode(part)[name], this.#document);
    return this.#resolve(target);
  }
}

function toNode(value: unknown): Node {
  return isJsonObject(value) ? value : {};
}
