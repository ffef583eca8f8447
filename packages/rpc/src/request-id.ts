/** The form of request ids that a service accepts from callers (D7). */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}
