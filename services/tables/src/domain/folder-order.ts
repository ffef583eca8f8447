const collator = new Intl.Collator("en");

/** Orders folders by name as people sort names. Equal names are ordered by code units. */
export function compareFolderNames(a: { name: string }, b: { name: string }): number {
  const order = collator.compare(a.name, b.name);
  if (order !== 0) return order;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
