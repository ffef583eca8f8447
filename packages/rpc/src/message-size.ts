/** The largest message unless a server or client is told otherwise. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The largest message of services that answer with pages of documents: a hundred of 1 MiB, with
 * room to spare. Server and client both need it.
 */
export const LARGE_MESSAGE_BYTES_MAX = 160 * 1024 * 1024;
