import {
  decodeForm,
  decodeHex,
  decodePercent,
  decodePlain,
  htmlOver,
  jsonOver,
  percentOver,
  utf16Over,
} from "./decoders.ts";
import type { Decoder } from "./decoders.ts";

export const json = jsonOver(decodePlain);
export const jsonTwice = jsonOver(json);
export const percentTwice = percentOver(decodePercent);
export const jsonInPercent = jsonOver(decodePercent);
export const jsonInForm = jsonOver(decodeForm);
export const html = htmlOver(decodePlain);
export const utf16 = utf16Over(decodePlain);
export const utf16InJson = utf16Over(json);
export const utf16InPercent = utf16Over(decodePercent);
export const utf16InHex = utf16Over(decodeHex);
export const jsonInHtml = jsonOver(html);
export const htmlInJson = htmlOver(json);

/** All ways of escaping text character by character. */
export const TEXT_DECODERS: readonly Decoder[] = [
  decodePlain,
  decodePercent,
  decodeForm,
  percentTwice,
  json,
  jsonTwice,
  jsonInPercent,
  jsonInForm,
  html,
  jsonInHtml,
  htmlInJson,
  decodeHex,
  utf16,
  utf16InJson,
  utf16InPercent,
  utf16InHex,
];

/** The decoders that read nothing but hexadecimal digits. */
export const HEX_DECODERS: ReadonlySet<Decoder> = new Set([decodeHex, utf16InHex]);
