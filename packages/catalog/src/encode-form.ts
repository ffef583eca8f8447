/** Form encoding with brackets: `{items: [{price: "p"}]}` becomes `items[0][price]=p`. */
export function encodeForm(body: unknown): string {
  const form = new URLSearchParams();
  append(form, "", body);
  return form.toString();
}

function append(form: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      append(form, name === "" ? key : `${name}[${key}]`, member);
    }
  } else if (name !== "") {
    form.append(name, scalarText(value));
  }
}

function scalarText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
