/**
 * A path in JSON: members and array indices between dots, `errors.0.code`. In an array, `$last` is the last
 * item and `rel=next` the first whose `rel` is `next`. `$list` is an object's first member that is an array.
 */
export type JsonPath = string;

/**
 * A text with `{name}` for a field or a credential of the connection, and `{name:host}` within a host name.
 */
export type Pattern = string;
