/** A file of a tenant, by its content or its URL. */
export interface NamedFile {
  filename: string;
  /** Undefined: the type that the URL's server sends, or that fits the name. */
  contentType: string | undefined;
  source: { $case: "content"; value: Buffer } | { $case: "url"; value: string };
}

/** A file whose bytes are in memory. */
export interface LoadedFile {
  filename: string;
  contentType: string | undefined;
  content: Buffer;
}
