/** The version of the export format; it grows when older programs can no longer read an export. */
export const EXPORT_FORMAT_VERSION = 1;
