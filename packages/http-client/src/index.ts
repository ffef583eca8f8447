export { HttpClientError } from "./http-client-error.ts";
export type { HttpClientErrorCode } from "./http-client-error.ts";
export { createSafeHttpClient } from "./safe-http-client.ts";
export type { HttpRequester, SafeHttpClient, SafeHttpClientOptions } from "./safe-http-client.ts";
export type { SafeRequest, SafeResponse } from "./safe-request.ts";
