/** JSON with long texts cut out of the middle: the seed tells them in full. */
export function show(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    if (typeof item !== "string" || item.length <= 200 || key === "error") return item;
    return `${item.slice(0, 30)}… ${item.length} …${item.slice(-30)}`;
  });
}
