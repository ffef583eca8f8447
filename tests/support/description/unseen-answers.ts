/** Why no test gets an answer that an operation declares. */
export interface Excuse {
  reason: string;
  /** Whether it depends on which of two requests comes first, so that a run may see it or not. */
  isRace: boolean;
}

const BY_OTHERS = "another request has to change the object between two statements of this one";
const BY_BANK =
  "takes a bank connected with tokens of its provider; services/integrations/tests/connections.test.ts gets it";

/**
 * Answers that operations declare and that no test of a whole system gets. `npm run answers` fails for others, and for
 * one of these that a test has got, unless it comes of a race.
 */
export const UNSEEN_ANSWERS: Readonly<Record<string, Excuse>> = {
  "PUT /workflows/{id} 409 CONFLICT": race(`${BY_OTHERS}, five times in a row`),
  "POST /workflows/{id}/activate 409 CONFLICT": race(`${BY_OTHERS}, several times in a row`),
  "POST /workflows/{id}/pause 409 CONFLICT": race(BY_OTHERS),
  "POST /workflows/{id}/versions/{version}/rollback 409 CONFLICT": race(
    `${BY_OTHERS}, five times in a row`,
  ),
  "POST /workflows/{id}/versions/{version}/rollback 400 VALIDATION_ERROR": elsewhere(
    "the version has to be older than a rule; services/workflows/tests/refused-hand-over.test.ts gets it",
  ),
  "GET /connections/{provider}/auth-url 409 CONFLICT": race(BY_OTHERS),
  "GET /connections/{provider}/callback 409 CONFLICT": race(
    "another request has to be confirming the same account, and to take longer than this one waits",
  ),
  "DELETE /connections/{id} 409 CONFLICT": race(`${BY_OTHERS}, several times in a row`),
  "POST /auth/password 409 CONFLICT": race(BY_OTHERS),
  "GET /connections/{id}/plaid/accounts 200": elsewhere(BY_BANK),
  "GET /connections/{id}/plaid/accounts 502 UPSTREAM_ERROR": elsewhere(BY_BANK),
};

function race(reason: string): Excuse {
  return { reason, isRace: true };
}

function elsewhere(reason: string): Excuse {
  return { reason, isRace: false };
}
