import { describe, expect, it } from "@jest/globals";
import { baseUrlOf, findProvider, MissingFieldError } from "../src/index.ts";

function baseUrl(id: string, fields: Record<string, string>): string {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return baseUrlOf(provider, { fields, credentials: {} });
}

describe("the tenant's host of Odoo", () => {
  it.each(["mycompany.odoo.com", "erp.example.com:8443"])("may be %s", (domain) => {
    expect(baseUrl("odoo", { domain })).toBe(`https://${domain}`);
  });

  it.each([
    "erp.example.com/path",
    "erp.example.com?x",
    "erp.example.com#x",
    "user@erp.example.com",
    "https://erp.example.com",
    "erp.example.com:80@evil.test",
    "erp example.com",
    "erp.example.com\\x",
    "-erp.example.com",
    "",
  ])("may not be %j", (domain) => {
    expect(() => baseUrl("odoo", { domain })).toThrow(MissingFieldError);
  });
});

describe("the environment of Avalara", () => {
  const accountId = "123456789";

  it("decides about the host", () => {
    expect(baseUrl("avalara", { accountId, environment: "production" })).toBe(
      "https://rest.avatax.com",
    );
    expect(baseUrl("avalara", { accountId, environment: "sandbox" })).toBe(
      "https://sandbox-rest.avatax.com",
    );
  });

  it("is one of two", () => {
    const fields = { accountId, environment: "sandbox.evil.test" };
    expect(() => baseUrl("avalara", fields)).toThrow(MissingFieldError);
  });
});

describe("hosts that a token answer, a callback or a caller names", () => {
  it.each([
    [
      "salesforce",
      { instanceUrl: "https://acme.my.salesforce.com" },
      "https://acme.my.salesforce.com",
    ],
    [
      "salesforce",
      { instanceUrl: "https://acme--dev.sandbox.my.salesforce.com" },
      "https://acme--dev.sandbox.my.salesforce.com",
    ],
    ["salesforce", { instanceUrl: "https://na1.salesforce.com/" }, "https://na1.salesforce.com"],
    ["docusign", { baseUri: "https://na4.docusign.net" }, "https://na4.docusign.net/restapi/v2.1"],
    ["netsuite", { accountId: "1234567" }, "https://1234567.suitetalk.api.netsuite.com"],
    ["netsuite", { accountId: "1234567_SB1" }, "https://1234567-sb1.suitetalk.api.netsuite.com"],
    ["quickbooks", { realmId: "9341453474484455" }, "https://quickbooks.api.intuit.com"],
    [
      "quickbooks",
      { realmId: "1", environment: "sandbox" },
      "https://sandbox-quickbooks.api.intuit.com",
    ],
  ])("%s takes %j", (id, fields, url) => {
    expect(baseUrl(id, fields)).toBe(url);
  });

  const evil = [
    "https://evil.test",
    "https://salesforce.com.evil.test",
    "https://evilsalesforce.com",
    "https://evil-docusign.net",
    "http://na4.docusign.net",
    "http://acme.my.salesforce.com",
    "https://acme.my.salesforce.com@evil.test",
    "https://acme.my.salesforce.com:8443",
    "https://acme.my.salesforce.com/x",
    "https://na4.docusign.net/x",
    "https://na4.docusign.net?x",
    "https://na4.docusign.net#x",
    "https://evil.test\n.docusign.net",
    "https://127.0.0.1",
    "//na4.docusign.net",
    "",
  ];
  it.each(evil)("neither Salesforce nor Docusign take %j", (url) => {
    expect(() => baseUrl("salesforce", { instanceUrl: url })).toThrow(MissingFieldError);
    expect(() => baseUrl("docusign", { baseUri: url })).toThrow(MissingFieldError);
  });

  it.each(["evil.test/", "a.b", "1@evil.test", "1#", "1?", "1:2", "-1", "1-", "ü", ""])(
    "NetSuite takes no account %j",
    (accountId) => {
      expect(() => baseUrl("netsuite", { accountId })).toThrow(MissingFieldError);
    },
  );

  it.each(["1/../2", "x", "1?", ""])("QuickBooks takes no company %j", (realmId) => {
    expect(() => baseUrl("quickbooks", { realmId })).toThrow(MissingFieldError);
  });

  it("QuickBooks has no other environments", () => {
    const fields = { realmId: "1", environment: "evil.test" };
    expect(() => baseUrl("quickbooks", fields)).toThrow(MissingFieldError);
  });
});
