import type { ActionCase } from "../action-case.ts";
import { ACCOUNT, ENVELOPE, PATH } from "./envelope.ts";

/** Envelopes and recipients that are read. */
export const reading: readonly ActionCase[] = [
  {
    action: "getEnvelope",
    inputs: { envelopeId: ENVELOPE, include: ["recipients", "documents"] },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${PATH}/${ENVELOPE}`,
          query: { include: "recipients,documents" },
        },
        answer: { body: { envelopeId: ENVELOPE, status: "completed" } },
      },
    ],
    output: { envelopeId: ENVELOPE, status: "completed" },
  },
  {
    action: "getEnvelope",
    what: "by an id that climbs out of the path",
    inputs: { envelopeId: `${ENVELOPE}/../x?` },
    exchanges: [],
    refused: "envelopeId",
  },
  {
    action: "getEnvelope",
    what: "with a token that is no longer good",
    inputs: { envelopeId: ENVELOPE },
    exchanges: [
      {
        request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
        answer: {
          status: 401,
          body: {
            errorCode: "AUTHORIZATION_INVALID_TOKEN",
            message: "The access token provided is expired, revoked or malformed.",
          },
        },
      },
    ],
    failure: {
      status: 401,
      code: "AUTHORIZATION_INVALID_TOKEN",
      message: "The access token provided is expired, revoked or malformed.",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "getEnvelope",
    what: "beyond the calls of an hour",
    inputs: { envelopeId: ENVELOPE },
    exchanges: [
      {
        request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
        answer: {
          status: 400,
          headers: { "x-ratelimit-reset": "1" },
          body: {
            errorCode: "HOURLY_APIINVOCATION_LIMIT_EXCEEDED",
            message: "The maximum number of hourly API invocations has been exceeded.",
          },
        },
      },
    ],
    failure: {
      status: 400,
      code: "HOURLY_APIINVOCATION_LIMIT_EXCEEDED",
      message: "The maximum number of hourly API invocations has been exceeded.",
      retryable: true,
      limited: true,
      retryAfterMs: 0,
    },
  },
  {
    action: "getEnvelope",
    what: "beyond the calls of half a minute",
    inputs: { envelopeId: ENVELOPE },
    exchanges: [
      {
        request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
        answer: {
          status: 400,
          headers: { "x-ratelimit-reset": "9999999999" },
          body: {
            errorCode: "BURST_APIINVOCATION_LIMIT_EXCEEDED",
            message: "The maximum number of burst API invocations has been exceeded.",
          },
        },
      },
    ],
    failure: {
      status: 400,
      code: "BURST_APIINVOCATION_LIMIT_EXCEEDED",
      message: "The maximum number of burst API invocations has been exceeded.",
      retryable: true,
      limited: true,
      retryAfterMs: 30_000,
    },
  },
  {
    action: "listEnvelopes",
    inputs: {
      from_date: "2026-11-01",
      statuses: ["sent", "completed"],
      order_by: "last_modified",
      order: "desc",
      limit: 3,
    },
    exchanges: [
      {
        request: {
          method: "GET",
          path: PATH,
          query: {
            from_date: "2026-11-01",
            status: "sent,completed",
            order_by: "last_modified",
            order: "desc",
            start_position: "0",
            count: "3",
          },
        },
        answer: {
          body: {
            resultSetSize: "2",
            totalSetSize: "4",
            startPosition: "0",
            endPosition: "1",
            nextUri: `/accounts/${ACCOUNT}/envelopes?start_position=2`,
            envelopes: [{ envelopeId: "1" }, { envelopeId: "2" }],
          },
        },
      },
      {
        request: {
          method: "GET",
          path: PATH,
          query: {
            from_date: "2026-11-01",
            status: "sent,completed",
            order_by: "last_modified",
            order: "desc",
            start_position: "2",
            count: "1",
          },
        },
        answer: {
          body: { resultSetSize: "1", totalSetSize: "4", envelopes: [{ envelopeId: "3" }] },
        },
      },
    ],
    output: {
      envelopes: [{ envelopeId: "1" }, { envelopeId: "2" }, { envelopeId: "3" }],
      hasMore: true,
    },
  },
  {
    action: "listRecipients",
    inputs: { envelopeId: ENVELOPE, include_tabs: true },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${PATH}/${ENVELOPE}/recipients`,
          query: { include_tabs: "true" },
        },
        answer: {
          body: { signers: [{ recipientId: "1", status: "completed" }], recipientCount: "1" },
        },
      },
    ],
    output: { signers: [{ recipientId: "1", status: "completed" }], recipientCount: "1" },
  },
];
