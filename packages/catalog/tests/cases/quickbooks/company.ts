/** Where every request of the company goes, and what it asks for. */
export const COMPANY = "/v3/company/9341453474484455";
export const minorversion = "75";

/** An invoice as QuickBooks answers it, shortened. */
export const invoice = {
  Id: "130",
  SyncToken: "0",
  DocNumber: "1037",
  TotalAmt: 362.07,
  Balance: 362.07,
};
