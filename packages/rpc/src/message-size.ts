/** The default limit of a message, in bytes. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The limit for services that answer with pages of documents, and for their clients. The limit covers a
 * hundred documents of 1 MiB with their metadata. Both ends of a connection need the same limit.
 */
export const LARGE_MESSAGE_BYTES_MAX = 160 * 1024 * 1024;
