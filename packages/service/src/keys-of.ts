/** The keys of an object whose keys are known. */
export function keysOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(object).filter((key): key is Key => Object.hasOwn(object, key));
}
