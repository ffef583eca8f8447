/** The largest message unless a server or client is told otherwise. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * For services that answer with pages of documents, and for their clients: a hundred documents of 1 MiB
 * and what goes with them, with room to spare. Both ends of a connection need it.
 */
export const LARGE_MESSAGE_BYTES_MAX = 160 * 1024 * 1024;
