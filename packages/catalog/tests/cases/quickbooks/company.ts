/** The path and the query of every request for the company. */
export const COMPANY = "/v3/company/9341453474484455";
export const minorversion = "75";

/** An invoice in QuickBooks' form, shortened. */
export const invoice = {
  Id: "130",
  SyncToken: "0",
  DocNumber: "1037",
  TotalAmt: 362.07,
  Balance: 362.07,
};
