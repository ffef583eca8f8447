import { usageError } from "../failures.ts";

const API_PATH = "/api/v1";

/**
 * The base URL of the API: `https://workflows.example.com` becomes `https://workflows.example.com/api/v1`.
 * @throws CliError for a bad address. The message hides the value, which may hold a password
 */
export function toBaseUrl(value: string): string {
  if (!URL.canParse(value)) {
    throw usageError("The server's address must be a URL, such as https://workflows.example.com.");
  }
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw usageError("The server's address must begin with https:// or http://.");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw usageError("The server's address must hold no user, password, query or fragment.");
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? API_PATH : path}`;
}
