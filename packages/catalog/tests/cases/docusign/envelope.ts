/** The account of the connection. */
export const ACCOUNT = "624e3e00-0000-0000-0000-08b7ad2ad0a1";

/** The envelope of the cases. */
export const ENVELOPE = "93be49ab-0000-0000-0000-f752070d71ec";

/** The path of the account's envelopes. */
export const PATH = `/accounts/${ACCOUNT}/envelopes`;
