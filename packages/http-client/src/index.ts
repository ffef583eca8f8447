export { HttpClientError } from "./http-client-error.ts";
export type { HttpClientErrorCode } from "./http-client-error.ts";
export { createSafeHttpClient } from "./safe-http-client.ts";
export type {
  HttpRequester,
  SafeHttpClient,
  SafeHttpClientOptions,
  SafeRequest,
  SafeResponse,
} from "./safe-http-client.ts";
