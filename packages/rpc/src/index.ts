export type { BoundAddress } from "./address.ts";
export { createRpcClient } from "./client.ts";
export type { RpcClient } from "./client.ts";
export { toIpAddress, toUserAgent } from "./client-facts.ts";
export type { ClientFacts } from "./client-facts.ts";
export { subCallOptions, subDeadline } from "./client-options.ts";
export type { RpcCallOptions, RpcClientOptions } from "./client-options.ts";
export type { RpcContext } from "./context.ts";
export { rpc, rpcClientStream, rpcServerStream } from "./definition.ts";
export type {
  ClientStreamMethod,
  Implementation,
  RequestOf,
  RequiredScopes,
  ResponseOf,
  RpcDefinition,
  RpcMethodDefinition,
  ServerStreamMethod,
  UnaryMethod,
} from "./definition.ts";
export { fromServiceError } from "./error-status.ts";
export type { ServerHealth } from "./health-check.ts";
export { isPrincipalType, serviceItself } from "./identity.ts";
export type { Identity, Principal, PrincipalType } from "./identity.ts";
export { fromItemFailure, toItemFailure } from "./item-failure.ts";
export type { ItemFailure } from "./item-failure.ts";
export { generateSigningKey, readSigningKey, readVerificationKey } from "./keys.ts";
export type { GeneratedSigningKey } from "./keys.ts";
export { LARGE_MESSAGE_BYTES_MAX } from "./message-size.ts";
export { isStorableTime, parseTime } from "./parse-time.ts";
export { hashText, scoreOf } from "./rendezvous.ts";
export type { RequestOutcome } from "./request-log.ts";
export { createRpcServer } from "./server.ts";
export type { RpcServer, RpcServerOptions } from "./server.ts";
export { createHttpsServer, httpsConnectOptions, httpTlsOf } from "./http-tls.ts";
export type { HttpTls } from "./http-tls.ts";
export { RenewedCertificates } from "./renewed-certificates.ts";
export { loadTls } from "./tls.ts";
export type { RpcTls, RpcTlsFiles } from "./tls.ts";
export {
  createRevokedTokens,
  deleteExpiredRevocations,
  insertRevokedToken,
  listRevocationsOf,
  parseRevocation,
} from "./revoked-tokens.ts";
export type { NamedRevocation, RevokedToken, RevokedTokens } from "./revoked-tokens.ts";
export {
  isTokenAudience,
  isTokenIssuer,
  MINTED_LIFE_SECONDS_MAX,
  callersOf,
  TOKEN_AUDIENCES,
  TOKEN_ISSUERS,
} from "./token-issuers.ts";
export type { TokenAudience, TokenIssuer } from "./token-issuers.ts";
export { createTokenMinter, createTokenSigner } from "./token-signer.ts";
export type {
  TokenMinter,
  TokenMinterOptions,
  TokenSigner,
  TokenSignerOptions,
  TokenTerms,
} from "./token-signer.ts";
export { createTokenVerifier } from "./token-verifier.ts";
export type { IssuerKeys, TokenVerifier, TokenVerifierOptions } from "./token-verifier.ts";
