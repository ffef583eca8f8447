export { HttpClientError } from "./http-client-error.ts";
export type { HttpClientErrorCode } from "./http-client-error.ts";
export { createSafeHttpClient } from "./safe-http-client.ts";
export type { SafeHttpClient, SafeHttpClientOptions } from "./safe-http-client.ts";
export type { HttpRequester, SafeRequest, SafeResponse } from "./safe-request.ts";
