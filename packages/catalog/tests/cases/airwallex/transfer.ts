/** The request id that follows from the step's idempotency key. */
export const REQUEST_ID = "ec073151-d3c1-4e09-a2f1-20d949e634aa";

/** The inputs of a transfer. */
export const transfer = {
  beneficiary_id: "eb06e9ac",
  source_currency: "USD",
  transfer_currency: "EUR",
  transfer_amount: 120.5,
  transfer_method: "LOCAL",
  reason: "goods_purchased",
  reference: "INV-17",
};
