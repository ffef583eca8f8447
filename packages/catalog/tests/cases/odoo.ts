import type { ActionCase, ProviderCases } from "./action-case.ts";

const records: readonly ActionCase[] = [
  {
    action: "searchRecords",
    inputs: {
      model: "res.partner",
      domain: [["is_company", "=", true]],
      fields: ["name"],
      order: "name asc",
      context: { lang: "de_DE" },
      limit: 3,
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/res.partner/search_read",
          json: {
            domain: [["is_company", "=", true]],
            fields: ["name"],
            order: "name asc",
            context: { lang: "de_DE" },
            limit: 4,
            offset: 0,
          },
        },
        answer: {
          body: [
            { id: 1, name: "A" },
            { id: 2, name: "B" },
          ],
        },
      },
    ],
    output: {
      records: [
        { id: 1, name: "A" },
        { id: 2, name: "B" },
      ],
      hasMore: false,
    },
  },
  {
    action: "searchRecords",
    what: "over two pages, in an order that keeps records in their places",
    inputs: { model: "sale.order", limit: 250 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/sale.order/search_read",
          json: { domain: [], order: "id", limit: 200, offset: 0 },
        },
        answer: { body: Array.from({ length: 200 }, (_, id) => ({ id })) },
      },
      {
        request: {
          method: "POST",
          path: "/json/2/sale.order/search_read",
          json: { domain: [], order: "id", limit: 51, offset: 200 },
        },
        answer: { body: [{ id: 200 }] },
      },
    ],
    output: { records: Array.from({ length: 201 }, (_, id) => ({ id })), hasMore: false },
  },
  {
    action: "searchRecords",
    what: "of a model that is a way elsewhere",
    inputs: { model: "../../web/login?x=" },
    exchanges: [],
    refused: "model",
  },
  {
    action: "getRecord",
    inputs: { model: "res.partner", id: 25, fields: ["name", "email"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/res.partner/read",
          json: { ids: [25], fields: ["name", "email"] },
        },
        answer: { body: [{ id: 25, name: "Ada", email: false }] },
      },
    ],
    output: { record: { id: 25, name: "Ada", email: false } },
  },
  {
    action: "createRecord",
    inputs: { model: "x_order", values: { x_name: "17", x_lines: [[0, 0, { x_qty: 1 }]] } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/x_order/create",
          json: { vals_list: [{ x_name: "17", x_lines: [[0, 0, { x_qty: 1 }]] }] },
        },
        answer: { body: [41] },
      },
    ],
    output: { id: 41 },
  },
  {
    action: "updateRecord",
    inputs: { model: "res.partner", id: 25, values: { phone: false }, context: { lang: "en_US" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/res.partner/write",
          json: { ids: [25], vals: { phone: false }, context: { lang: "en_US" } },
        },
        answer: { body: true },
      },
    ],
    output: { success: true },
  },
  {
    action: "updateRecord",
    what: "with nothing to change",
    inputs: { model: "res.partner", id: 25, values: {} },
    exchanges: [],
    refused: "values",
  },
  {
    action: "deleteRecord",
    inputs: { model: "res.partner", id: 25 },
    exchanges: [
      {
        request: { method: "POST", path: "/json/2/res.partner/unlink", json: { ids: [25] } },
        answer: { body: true },
      },
    ],
    output: { success: true },
  },
];

const documents: readonly ActionCase[] = [
  {
    action: "createContact",
    inputs: {
      name: "Ada",
      is_company: false,
      country_id: 233,
      values: { comment: "met in London", name: "not this one" },
      context: { lang: "en_US" },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/res.partner/create",
          json: {
            vals_list: [
              { comment: "met in London", name: "Ada", is_company: false, country_id: 233 },
            ],
            context: { lang: "en_US" },
          },
        },
        answer: { body: [25] },
      },
    ],
    output: { id: 25 },
  },
  {
    action: "createOpportunity",
    inputs: { name: "Ten engines", partner_name: "Lovelace Parts", expected_revenue: 12000 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/crm.lead/create",
          json: {
            vals_list: [
              {
                type: "opportunity",
                name: "Ten engines",
                partner_name: "Lovelace Parts",
                expected_revenue: 12000,
              },
            ],
          },
        },
        answer: { body: [7] },
      },
    ],
    output: { id: 7 },
  },
  {
    action: "createInvoice",
    what: "with its lines as commands",
    inputs: {
      move_type: "out_invoice",
      partner_id: 25,
      invoice_date: "2026-01-31",
      invoice_line_ids: [
        { name: "Platform", quantity: 1, price_unit: 1200, tax_ids: [3] },
        { product_id: 9 },
      ],
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/json/2/account.move/create",
          json: {
            vals_list: [
              {
                move_type: "out_invoice",
                partner_id: 25,
                invoice_date: "2026-01-31",
                invoice_line_ids: [
                  [
                    0,
                    0,
                    { name: "Platform", quantity: 1, price_unit: 1200, tax_ids: [[6, 0, [3]]] },
                  ],
                  [0, 0, { product_id: 9 }],
                ],
              },
            ],
          },
        },
        answer: { body: [99] },
      },
    ],
    output: { id: 99 },
  },
];

const getPartner = {
  method: "POST",
  path: "/json/2/res.partner/read",
  json: { ids: [25] },
};

const failures: readonly ActionCase[] = [
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

export const odooCases: ProviderCases = {
  provider: "odoo",
  fields: { domain: "mycompany.odoo.com" },
  credentials: { apiKey: "odoo_canary" },
  signature: { headers: { authorization: "Bearer odoo_canary" } },
  cases: [...records, ...documents, ...failures],
};
