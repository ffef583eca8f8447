import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { KeyRing } from "@workflow/sealing";
import type { CompanyWrites, Loop } from "@workflow/service";
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
  /** Changes that callers ask for. */
  writes: CompanyWrites;
  ring: KeyRing;
  uses: UseRecorder;
  mail: Mail;
  audit: AuditTrail;
  /** The one way out to providers. */
  providerHttp: ProviderHttp;
  /** How accounts at OAuth providers and banks are connected. */
  flow: AuthorizationFlow;
  /** For attempts of people to connect accounts. */
  authorization: CallbackContext;
  /** What the pages of attempts ask for. */
  attemptPage: AttemptPage;
  /** To be woken when access of an ended connection is to be taken back. */
  revocations: Pick<Loop, "wake">;
  /** To be woken when an attempt has ended for which somebody may have connected an account at the broker. */
  leftovers: Pick<Loop, "wake">;
  /** Tokens that keys were exchanged for. */
  tokens: LoginTokens;
  /** What is being renewed in this process. */
  renewals: RenewalsUnderWay;
  /** What opens accounts, for whoever calls providers. */
  access: ConnectionAccessCache;
  /** Connections that are called too often. */
  pauses: Pauses;
  /** What is done about credentials that a provider refused. */
  refused: RefusedCredentials;
  /** Brings files from where tenants say that they are. */
  files: FileLoader;
  /** Makes and reads the cursors of lists. */
  cursors: CursorCodec;
  /** The models that agents use. */
  models: Models;
  /** Checks and composes what an agent is asked. */
  prepareQuestion: PrepareQuestion;
  /** Evaluations of agents that are under way, and how long each may take. */
  evaluations: EvaluationPlaces;
  /** What judges answers by expressions. */
  expressions: CaseExpressions;
  logger: Logger;
}
