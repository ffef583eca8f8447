import type { ProviderCases } from "../action-case.ts";
import { sending } from "./sending.ts";
import { reading } from "./reading.ts";
import { failures } from "./failures.ts";

export const googleMailCases: ProviderCases = {
  provider: "google-mail",
  fields: { emailAddress: "me@example.com" },
  credentials: { accessToken: "ya29.canary" },
  signature: { headers: { authorization: "Bearer ya29.canary" } },
  cases: [...sending, ...reading, ...failures],
};
