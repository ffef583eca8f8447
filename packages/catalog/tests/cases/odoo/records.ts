import type { ActionCase } from "../action-case.ts";

/** Records of any model. */
export const records: readonly ActionCase[] = [
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
