const BY_OTHERS = "another request has to change the object between two statements of this one";
/**
 * Answers that operations declare and that depend on which of two requests comes first, so that a run of the tests
 * may get them or not, with the event that each needs. `npm run answers` fails for other answers that no test got.
 */
export const UNSEEN_ANSWERS: Readonly<Record<string, string>> = {
  "PUT /workflows/{id} 409 CONFLICT": `${BY_OTHERS}, five times in a row`,
  "POST /workflows/{id}/activate 409 CONFLICT": `${BY_OTHERS}, several times in a row`,
  "POST /workflows/{id}/pause 409 CONFLICT": BY_OTHERS,
  "POST /workflows/{id}/versions/{version}/rollback 409 CONFLICT": `${BY_OTHERS}, five times in a row`,
  "GET /connections/{provider}/auth-url 409 CONFLICT": BY_OTHERS,
  "GET /connections/{provider}/callback 409 CONFLICT":
    "another request has to be confirming the same account, and to take longer than this one waits",
  "DELETE /connections/{id} 409 CONFLICT": `${BY_OTHERS}, several times in a row`,
  "POST /auth/password 409 CONFLICT": BY_OTHERS,
};
