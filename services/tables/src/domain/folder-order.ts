const collator = new Intl.Collator("en");

/** Order of folders: as people sort their names, equal ones by their code units. */
export function compareFolderNames(a: { name: string }, b: { name: string }): number {
  const order = collator.compare(a.name, b.name);
  if (order !== 0) return order;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
