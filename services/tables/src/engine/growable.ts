type Numbers = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const CAPACITY_MIN = 64;
/** At most a third of the room stays unused. */
const GROWTH = 1.5;

/** The array, or a larger copy when it is too short. The new room is filled. */
export function roomFor<Array extends Numbers>(
  array: Array,
  length: number,
  filling: number,
): Array;
export function roomFor(array: Numbers, length: number, filling: number): Numbers {
  if (length <= array.length) return array;
  const capacity = Math.max(length, CAPACITY_MIN, Math.ceil(array.length * GROWTH));
  const larger = emptyLike(array, capacity);
  larger.set(array);
  larger.fill(filling, array.length);
  return larger;
}

/** A new array with the elements at these indexes. */
export function keptOf<Array extends Numbers>(array: Array, indexes: Int32Array): Array;
export function keptOf(array: Numbers, indexes: Int32Array): Numbers {
  const kept = emptyLike(array, indexes.length);
  for (let place = 0; place < indexes.length; place += 1) {
    kept[place] = array[indexes[place] ?? 0] ?? 0;
  }
  return kept;
}

function emptyLike(array: Numbers, length: number): Numbers {
  if (array instanceof Uint8Array) return new Uint8Array(length);
  return array instanceof Int32Array ? new Int32Array(length) : new Float64Array(length);
}
