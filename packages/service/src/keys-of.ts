/** The keys of an object, with their type. */
export function keysOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(object).filter((key): key is Key => Object.hasOwn(object, key));
}
