import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { DescribedHeader, DescribedOperation, Description } from "./description.ts";

/** The headers of an answer. */
export interface ReceivedHeaders {
  get(name: string): string | null;
}

/** Compares the headers of answers with the description. Schemas are compiled when they are first needed. */
export class HeaderChecker {
  readonly #description: Description;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param ajv knows the description by its name */
  constructor(description: Description, ajv: Ajv2020) {
    this.#description = description;
    this.#ajv = ajv;
  }

  /**
   * The faults: a described header that is always there is missing, a value has another form, or a known header is
   * there although this answer has none of it.
   */
  check({ headers: described }: DescribedOperation, status: number, given: ReceivedHeaders) {
    const ofStatus = described.get(String(status));
    return this.#description.headerNames.flatMap((name) => {
      const value = given.get(name);
      const header = ofStatus?.get(name);
      if (value === null)
        return header?.isRequired === true ? [`the header ${name} is missing`] : [];
      if (header === undefined) return [`the header ${name} is not described`];
      return this.#isGood(header, value) ? [] : [`the header ${name} is ${value}`];
    });
  }

  #isGood({ schema, isInteger }: DescribedHeader, value: string): boolean {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `description#${schema}` });
      this.#validators.set(schema, validate);
    }
    return validate(isInteger && /^\d+$/.test(value) ? Number(value) : value);
  }
}
