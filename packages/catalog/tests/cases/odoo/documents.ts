import type { ActionCase } from "../action-case.ts";

/** Contacts, opportunities and invoices. */
export const documents: readonly ActionCase[] = [
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
