type Members = Readonly<Record<string, unknown>>;

/** A type of event that endpoints can get. */
export interface EventType {
  readonly type: string;
  /** Explains to people when it happens. */
  readonly description: string;
  /** JSON Schema (2020-12) of the body of its deliveries. */
  readonly schema: Members;
  /** A body that fits the schema. */
  readonly example: Members;
}

const SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema";

export const TIMESTAMP: Members = { type: "string", format: "date-time" };
export const UUID: Members = { type: "string", format: "uuid" };

/** The schema of an id with this prefix (D1). */
export function prefixedId(prefix: string): Members {
  return { type: "string", pattern: `^${prefix}[0-9a-hjkmnp-tv-z]{26}$` };
}

/**
 * The schema of a body. All required members are present, optional ones may be. Later versions may add members, so
 * receivers have to ignore unknown ones.
 */
export function bodySchema(type: string, required: Members, optional: Members): Members {
  const properties = {
    id: {
      ...prefixedId("evt_"),
      description: "The event's id, the same on each retry and for each endpoint.",
    },
    type: { const: type },
    timestamp: { ...TIMESTAMP, description: "When it happened." },
    companyId: UUID,
    ...required,
  };
  return {
    $schema: SCHEMA_DIALECT,
    type: "object",
    required: Object.keys(properties),
    properties: {
      ...properties,
      ...optional,
      test: { const: true, description: "Only in deliveries of the test call." },
    },
  };
}
