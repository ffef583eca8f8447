import { AppError } from "@workflow/errors";

/** The most tables of one company. `GET /tables` lists all of them in one answer. */
const TABLES_MAX = 1_000;
/**
 * The most bytes in the documents of all tables of a company. The list contains columns twice, so an answer has
 * about twice as many.
 */
const DOCUMENT_BYTES_MAX_OF_ALL = 16 * 1024 * 1024;
/**
 * The most bytes in all folders of a company. The contract does not limit their number, but the list of folders
 * must fit into one answer. Some 150,000 folders with ordinary names fit.
 */
export const FOLDER_BYTES_MAX_OF_ALL = 16 * 1024 * 1024;
/**
 * The bytes of a folder in the list besides its name: the id, the times and the names of members.
 */
export const FOLDER_OVERHEAD_BYTES = 100;

/** The totals of a company's tables. */
export interface TablesTotal {
  tables: number;
  /** The bytes of descriptions, schemas and metadata. */
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
 * Refuses totals that exceed a limit.
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

/** The refusal when the folders of a company have no room for another one. */
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
