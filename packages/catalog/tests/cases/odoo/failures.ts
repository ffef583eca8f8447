import type { ActionCase } from "../action-case.ts";

const getPartner = {
  method: "POST",
  path: "/json/2/res.partner/read",
  json: { ids: [25] },
};

/** Refusals of the provider. */
export const failures: readonly ActionCase[] = [
  {
    action: "getRecord",
    what: "that is not there",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: getPartner,
        answer: {
          status: 404,
          body: {
            name: "odoo.exceptions.MissingError",
            message: "Record does not exist or has been deleted.",
            arguments: ["Record does not exist or has been deleted."],
            context: {},
            debug: "Traceback (most recent call last): …",
          },
        },
      },
    ],
    failure: {
      status: 404,
      code: "odoo.exceptions.MissingError",
      message: "Record does not exist or has been deleted.",
      retryable: false,
    },
  },
  {
    action: "createRecord",
    what: "with a field that does not exist: status 500 and no use to try again",
    inputs: { model: "res.partner", values: { nickname: "A" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/res.partner/create",
          json: { vals_list: [{ nickname: "A" }] },
        },
        answer: {
          status: 500,
          body: {
            name: "builtins.ValueError",
            message: "Invalid field 'nickname' on model 'res.partner'",
          },
        },
      },
    ],
    failure: {
      status: 500,
      code: "builtins.ValueError",
      message: "Invalid field 'nickname' on model 'res.partner'",
      retryable: false,
    },
  },
  {
    action: "getRecord",
    what: "while the database can't serialize",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: getPartner,
        answer: {
          status: 500,
          body: { name: "psycopg2.errors.SerializationFailure", message: "could not serialize" },
        },
      },
    ],
    failure: {
      status: 500,
      code: "psycopg2.errors.SerializationFailure",
      message: "could not serialize",
      retryable: true,
    },
  },
  {
    action: "getRecord",
    what: "with a key that is no more",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: getPartner,
        answer: {
          status: 401,
          body: { name: "werkzeug.exceptions.Unauthorized", message: "Invalid apikey" },
        },
      },
    ],
    failure: {
      status: 401,
      code: "werkzeug.exceptions.Unauthorized",
      message: "Invalid apikey",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "getRecord",
    what: "that the user may not read",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: getPartner,
        answer: {
          status: 403,
          body: { name: "odoo.exceptions.AccessError", message: "You are not allowed to access" },
        },
      },
    ],
    failure: {
      status: 403,
      code: "odoo.exceptions.AccessError",
      message: "You are not allowed to access",
      retryable: false,
      badCredentials: false,
    },
  },
  {
    action: "getRecord",
    what: "too often, as the proxy in front says",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: getPartner,
        answer: { status: 429, headers: { "retry-after": "5" }, body: null },
      },
    ],
    failure: {
      status: 429,
      code: null,
      message: "The provider answered 429.",
      retryable: true,
      limited: true,
      retryAfterMs: 5_000,
    },
  },
];
