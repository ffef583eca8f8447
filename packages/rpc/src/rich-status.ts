import type { Violation } from "@workflow/errors";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * The parts of google.rpc.Status that we send: https://github.com/googleapis/googleapis, files
 * google/rpc/status.proto and google/rpc/error_details.proto. Written by hand because four small
 * messages do not justify generated code for the whole of googleapis.
 */
export interface RichStatus {
  code: number;
  message: string;
  /** google.rpc.ErrorInfo */
  info?: { reason: string; domain: string; metadata: Readonly<Record<string, string>> };
  /** google.rpc.BadRequest; a path is written into `field` as a JSON array. */
  violations: readonly Violation[];
  /** google.rpc.RetryInfo, in milliseconds. */
  retryAfterMs?: number;
}

const TYPE_URL = "type.googleapis.com/google.rpc.";

/** Encodes a google.rpc.Status message. */
export function encodeRichStatus(status: RichStatus): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(tag(1, WireType.Varint)).int32(status.code);
  writer.uint32(tag(2, WireType.LengthDelimited)).string(status.message);
  const { info, violations, retryAfterMs } = status;
  if (info !== undefined) writeAny(writer, "ErrorInfo", (any) => writeErrorInfo(any, info));
  if (violations.length > 0) {
    writeAny(writer, "BadRequest", (any) => writeBadRequest(any, violations));
  }
  if (retryAfterMs !== undefined) {
    writeAny(writer, "RetryInfo", (any) => writeRetryInfo(any, retryAfterMs));
  }
  return writer.finish();
}

/** Decodes a google.rpc.Status message, skipping details of other types. Throws when malformed. */
export function decodeRichStatus(bytes: Uint8Array): RichStatus {
  const status: RichStatus = { code: 2, message: "", violations: [] };
  readFields(bytes, {
    1: (reader) => (status.code = reader.int32()),
    2: (reader) => (status.message = reader.string()),
    3: (reader) => readAny(reader.bytes(), status),
  });
  return status;
}

function tag(field: number, type: WireType): number {
  return ((field << 3) | type) >>> 0;
}

function writeAny(writer: BinaryWriter, type: string, write: (any: BinaryWriter) => void): void {
  const value = new BinaryWriter();
  write(value);
  writer.uint32(tag(3, WireType.LengthDelimited)).fork();
  writer.uint32(tag(1, WireType.LengthDelimited)).string(TYPE_URL + type);
  writer.uint32(tag(2, WireType.LengthDelimited)).bytes(value.finish());
  writer.join();
}

function writeErrorInfo(writer: BinaryWriter, info: NonNullable<RichStatus["info"]>): void {
  writer.uint32(tag(1, WireType.LengthDelimited)).string(info.reason);
  writer.uint32(tag(2, WireType.LengthDelimited)).string(info.domain);
  for (const [key, value] of Object.entries(info.metadata)) {
    writer.uint32(tag(3, WireType.LengthDelimited)).fork();
    writer.uint32(tag(1, WireType.LengthDelimited)).string(key);
    writer.uint32(tag(2, WireType.LengthDelimited)).string(value);
    writer.join();
  }
}

function writeBadRequest(writer: BinaryWriter, violations: readonly Violation[]): void {
  for (const { path, message } of violations) {
    writer.uint32(tag(1, WireType.LengthDelimited)).fork();
    writer.uint32(tag(1, WireType.LengthDelimited)).string(JSON.stringify(path));
    writer.uint32(tag(2, WireType.LengthDelimited)).string(message);
    writer.join();
  }
}

function writeRetryInfo(writer: BinaryWriter, retryAfterMs: number): void {
  const delayMs = Math.max(0, Math.round(retryAfterMs));
  writer.uint32(tag(1, WireType.LengthDelimited)).fork();
  writer.uint32(tag(1, WireType.Varint)).int64(Math.floor(delayMs / 1000));
  writer.uint32(tag(2, WireType.Varint)).int32((delayMs % 1000) * 1_000_000);
  writer.join();
}

function readAny(bytes: Uint8Array, status: RichStatus): void {
  let type = "";
  let value: Uint8Array = new Uint8Array();
  readFields(bytes, {
    1: (reader) => (type = reader.string()),
    2: (reader) => (value = reader.bytes()),
  });
  if (type === `${TYPE_URL}ErrorInfo`) status.info = readErrorInfo(value);
  else if (type === `${TYPE_URL}BadRequest`) status.violations = readBadRequest(value);
  else if (type === `${TYPE_URL}RetryInfo`) status.retryAfterMs = readRetryInfo(value);
}

function readErrorInfo(bytes: Uint8Array): NonNullable<RichStatus["info"]> {
  let reason = "";
  let domain = "";
  const metadata = new Map<string, string>();
  readFields(bytes, {
    1: (reader) => (reason = reader.string()),
    2: (reader) => (domain = reader.string()),
    3: (reader) => {
      const [key, value] = readStringPair(reader.bytes());
      metadata.set(key, value);
    },
  });
  return { reason, domain, metadata: Object.fromEntries(metadata) };
}

function readBadRequest(bytes: Uint8Array): Violation[] {
  const violations: Violation[] = [];
  readFields(bytes, {
    1: (reader) => {
      const [field, message] = readStringPair(reader.bytes());
      violations.push({ path: readPath(field), message });
    },
  });
  return violations;
}

function readRetryInfo(bytes: Uint8Array): number {
  let delayMs = 0;
  readFields(bytes, {
    1: (reader) =>
      readFields(reader.bytes(), {
        1: (inner) => (delayMs += Number(inner.int64()) * 1000),
        2: (inner) => (delayMs += inner.int32() / 1_000_000),
      }),
  });
  return delayMs;
}

function readStringPair(bytes: Uint8Array): [string, string] {
  let first = "";
  let second = "";
  readFields(bytes, {
    1: (reader) => (first = reader.string()),
    2: (reader) => (second = reader.string()),
  });
  return [first, second];
}

/** A server that is not ours may send a plain field name. */
function readPath(field: string): string[] {
  try {
    const path: unknown = JSON.parse(field);
    if (Array.isArray(path)) return path.map(String);
  } catch {
    // A text that is no JSON counts as one name below.
  }
  return field === "" ? [] : [field];
}

function readFields(
  bytes: Uint8Array,
  fields: Readonly<Record<number, (reader: BinaryReader) => unknown>>,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const read = fields[field];
    if (read === undefined) reader.skip(type, field);
    else read(reader);
  }
}
