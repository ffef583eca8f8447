import type { Loop } from "@workflow/async";
import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { KeyRing } from "@workflow/sealing";
import type { CompanyWrites } from "@workflow/service";
import type { Logger } from "pino";
import type { Pauses } from "./actions/pauses.ts";
import type { RefusedCredentials } from "./actions/renew-refused.ts";
import type { PrepareQuestion } from "./agents/agent-answer.ts";
import type { AgentCalls } from "./agents/executions/open-agent-calls.ts";
import type { EvaluationPlaces } from "./agents/evaluation/evaluation-places.ts";
import type { CaseExpressions } from "./agents/evaluation/lazy-expressions.ts";
import type { Models } from "./agents/models/model.ts";
import type { AttemptPage } from "./authorization/attempt-page.ts";
import type { CallbackContext } from "./authorization/complete-authorization.ts";
import type { ConnectionAccessCache } from "./connections/access.ts";
import type { AuthorizationFlow } from "./connections/authorization-flow.ts";
import type { LoginTokens } from "./connections/login-tokens.ts";
import type { RenewalsUnderWay } from "./connections/renew-access.ts";
import type { Mail } from "./email/mail.ts";
import type { FileLoader } from "./files/file-loader.ts";
import type { ProviderHttp } from "./provider-http/provider-http.ts";
import type { UseRecorder } from "./use-recorder.ts";

/** The dependencies of the RPC handlers. */
export interface ServiceContext extends AgentCalls {
  database: Database;
  /** Serializes callers' changes; companies take turns. */
  writes: CompanyWrites;
  ring: KeyRing;
  uses: UseRecorder;
  mail: Mail;
  audit: AuditTrail;
  /** The only HTTP client for providers. */
  providerHttp: ProviderHttp;
  /** Connects accounts at OAuth providers and banks. */
  flow: AuthorizationFlow;
  /** Begins and completes attempts of people to connect accounts. */
  authorization: CallbackContext;
  /** Serves the pages of attempts. */
  attemptPage: AttemptPage;
  /** Woken when the access of an ended connection must be revoked. */
  revocations: Pick<Loop, "wake">;
  /** Woken when an attempt has ended and may have left an account at the broker. */
  leftovers: Pick<Loop, "wake">;
  /** Access tokens for which keys were exchanged. */
  tokens: LoginTokens;
  /** The renewals that this process is making. */
  renewals: RenewalsUnderWay;
  /** Decrypts connections for calls to providers, and caches them. */
  access: ConnectionAccessCache;
  /** The pauses of connections that are called too often. */
  pauses: Pauses;
  /** Handles credentials that a provider refused. */
  refused: RefusedCredentials;
  /** Fetches files from the URLs that tenants give. */
  files: FileLoader;
  /** Encodes and decodes the cursors of lists. */
  cursors: CursorCodec;
  /** The models that agents use. */
  models: Models;
  /** Checks and composes questions to agents. */
  prepareQuestion: PrepareQuestion;
  /** Limits concurrent evaluations of agents, and their time. */
  evaluations: EvaluationPlaces;
  /** Evaluates the expressions that judge answers. */
  expressions: CaseExpressions;
  logger: Logger;
}
