/** A file that a tenant gives, or says where it is. */
export interface NamedFile {
  filename: string;
  /** Undefined: what the URL's server says, or what fits the name. */
  contentType: string | undefined;
  source: { $case: "content"; value: Buffer } | { $case: "url"; value: string };
}

/** A file whose bytes are at hand. */
export interface LoadedFile {
  filename: string;
  contentType: string | undefined;
  content: Buffer;
}
