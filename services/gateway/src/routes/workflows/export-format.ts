/** The form of an exported workflow; one more when older programs could not read it any more. */
export const EXPORT_FORMAT_VERSION = 1;
