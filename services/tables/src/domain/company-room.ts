import { AppError } from "@workflow/errors";

/** Tables of one company: `GET /tables` lists them whole. */
const TABLES_MAX = 1_000;
/** Of all tables of a company together. The list says columns twice, so an answer has about twice as much. */
const DOCUMENT_BYTES_MAX_OF_ALL = 16 * 1024 * 1024;
/**
 * Of all folders of a company together. Their number has no limit by the contract; this keeps the list of
 * them an answer that can be sent. Some 150,000 folders with ordinary names fit.
 */
export const FOLDER_BYTES_MAX_OF_ALL = 16 * 1024 * 1024;
/** What a folder takes in the list beside its name: id, times and their names. */
export const FOLDER_OVERHEAD_BYTES = 100;

/** What a company's tables come to. */
export interface TablesTotal {
  tables: number;
  /** Of descriptions, schemas and metadata. */
  documentBytes: number;
}

/** The part of a table that counts towards the limit on documents. */
interface TableDocuments {
  description: string | null;
  schemaJson: string;
  metadataJson: string;
}

/** Whether a change makes the documents of a table longer. */
export function hasGrown(before: TableDocuments, after: TableDocuments): boolean {
  return bytesOf(after) > bytesOf(before);
}

function bytesOf({ description, schemaJson, metadataJson }: TableDocuments): number {
  return [description ?? "", schemaJson, metadataJson].reduce(
    (bytes, text) => bytes + Buffer.byteLength(text),
    0,
  );
}

/**
 * Refuses what a company's tables have come to.
 *
 * @throws AppError BAD_REQUEST naming the limit
 */
export function requireWithinRoom({ tables, documentBytes }: TablesTotal): void {
  if (tables > TABLES_MAX) {
    throw full(`The company has ${TABLES_MAX} tables, which is the most; delete one first.`, {
      limit: "dataTables",
      max: TABLES_MAX,
    });
  }
  if (documentBytes > DOCUMENT_BYTES_MAX_OF_ALL) {
    throw full(
      "Descriptions, schemas and metadata of the company's tables would have more than " +
        `${DOCUMENT_BYTES_MAX_OF_ALL} bytes together.`,
      { limit: "dataTableBytes", max: DOCUMENT_BYTES_MAX_OF_ALL },
    );
  }
}

/** The answer when a company's folders have as many bytes as they may have together. */
export function tooManyFolders(): AppError {
  return full(
    `The company's folders would have more than ${FOLDER_BYTES_MAX_OF_ALL} bytes together; ` +
      `each counts with its name and ${FOLDER_OVERHEAD_BYTES} bytes.`,
    { limit: "tableFolderBytes", max: FOLDER_BYTES_MAX_OF_ALL },
  );
}

function full(message: string, details: { limit: string; max: number }): AppError {
  return new AppError("BAD_REQUEST", message, { details });
}
