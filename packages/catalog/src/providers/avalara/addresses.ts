import { z } from "zod";
import { choice, number, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";

export const resolveAddress: ActionManifest = {
  name: "resolveAddress",
  title: "Resolve an address",
  description: "Validates an address, completes it, and says who may tax there.",
  docs: "https://developer.avalara.com/api-reference/avatax/rest/v2/methods/Addresses/ResolveAddressPost/",
  inputs: [
    text("line1", { schema: z.string().max(100) }),
    text("line2", { schema: z.string().max(100) }),
    text("line3", { schema: z.string().max(100) }),
    text("city"),
    text("region", { description: "A state or province: CA" }),
    text("postalCode"),
    text("country", { description: "A code of two letters: US" }),
    number("latitude", { schema: z.number().min(-90).max(90) }),
    number("longitude", { schema: z.number().min(-180).max(180) }),
    choice("textCase", [
      { id: "Upper", label: "Upper case" },
      { id: "Mixed", label: "Mixed case" },
    ]),
  ],
  outputs: [
    "address",
    "validatedAddresses",
    "coordinates",
    "resolutionQuality",
    "taxAuthorities",
    "messages",
  ],
  request: { method: "POST", path: "/api/v2/addresses/resolve" },
  readOnly: true,
  example: { line1: "2000 Main Street", city: "Irvine", region: "CA", country: "US" },
};
