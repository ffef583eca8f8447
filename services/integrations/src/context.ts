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

/** What the RPC handlers work with. */
export interface ServiceContext extends AgentCalls {
  database: Database;
  /** Makes callers' changes in turns between companies. */
  writes: CompanyWrites;
  ring: KeyRing;
  uses: UseRecorder;
  mail: Mail;
  audit: AuditTrail;
  /** The one client for providers. */
  providerHttp: ProviderHttp;
  /** Connects accounts at OAuth providers and banks. */
  flow: AuthorizationFlow;
  /** For attempts of people to connect accounts. */
  authorization: CallbackContext;
  /** Answers the pages of attempts. */
  attemptPage: AttemptPage;
  /** Woken when access of an ended connection is to be revoked. */
  revocations: Pick<Loop, "wake">;
  /** Woken when an attempt has ended for which somebody may have connected an account at the broker. */
  leftovers: Pick<Loop, "wake">;
  /** Tokens for which keys were exchanged. */
  tokens: LoginTokens;
  /** Renewals under way in this process. */
  renewals: RenewalsUnderWay;
  /** Opens connections, for calls of providers. */
  access: ConnectionAccessCache;
  /** Pauses of connections that are called too often. */
  pauses: Pauses;
  /** Handles credentials that a provider refused. */
  refused: RefusedCredentials;
  /** Fetches files from the URLs that tenants give. */
  files: FileLoader;
  /** Makes and reads the cursors of lists. */
  cursors: CursorCodec;
  /** The models that agents use. */
  models: Models;
  /** Checks and composes questions to agents. */
  prepareQuestion: PrepareQuestion;
  /** Bounds the evaluations of agents under way, and their time. */
  evaluations: EvaluationPlaces;
  /** Judges answers by expressions. */
  expressions: CaseExpressions;
  logger: Logger;
}
