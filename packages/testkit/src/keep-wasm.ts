import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";

/*
 * Every test file loads undici anew, whose parser is WebAssembly. Node 24 ends now and then with
 * "Check failed: jit_page_->allocations_.erase" when such code is freed (nodejs/node#64500). V8 shares
 * the code of equal modules while one of them lives: this one lives as long as the process.
 */
setFlagsFromString("--no-wasm-code-gc");

const PARSERS = ["undici/lib/llhttp/llhttp_simd-wasm.js", "undici/lib/llhttp/llhttp-wasm.js"];
const requireFrom = createRequire(import.meta.url);

/** The part of it that is used here; it comes with browsers' types, which are not loaded. */
declare const WebAssembly: { Module: new (code: Uint8Array) => object };

const kept = PARSERS.map((path) => {
  const code: unknown = requireFrom(path);
  if (!Buffer.isBuffer(code)) throw new Error(`${path} has no code of a parser`);
  return new WebAssembly.Module(new Uint8Array(code));
});
Object.defineProperty(globalThis, "wfs.keptParsers", { value: kept });
