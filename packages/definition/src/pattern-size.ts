/** The weight of a Unicode class such as `\p{L}`: hundreds of ranges, each tried in turn. */
const UNICODE_CLASS_SIZE = 20;

const UNICODE_CLASS = /\\[pP](?:\{[^}]*\}|.)/gsu;
/** A class in brackets, with POSIX names and escapes. */
const BRACKETS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/gsuy;
const REPEAT = /\{(\d+)(?:,(\d*))?\}/gy;

/**
 * An upper bound of the instructions that a pattern compiles to, in one pass over its text: `a{1000}`
 * has 1,000 in seven characters. Unicode classes count for more than one.
 */
export function estimatePatternSize(source: string): number {
  /** The sizes of the enclosing sequences, and of the current one. */
  const outer: number[] = [];
  let total = 0;
  /** The size of the part that a following repetition repeats. */
  let last = 0;
  const add = (size: number): void => {
    last = size;
    total += size;
  };
  for (let index = 0; index < source.length; index += 1) {
    const char = source[index];
    const length = lengthOfAtom(source, index);
    const repeat = char === "{" ? matchAt(REPEAT, source, index) : null;
    if (length > 0) {
      add(1 + UNICODE_CLASS_SIZE * countUnicodeClasses(source.slice(index, index + length)));
      index += length - 1;
    } else if (repeat !== null) {
      const [text = "", low = "", high] = repeat;
      // `{3,}` is three copies and a loop.
      const times = Math.max(1, high === "" ? Number(low) + 1 : Number(high ?? low));
      total += last * (times - 1);
      last *= times;
      index += text.length - 1;
    } else if (char === "(") {
      outer.push(total);
      total = 0;
      last = 0;
    } else if (char === ")") {
      // A group is its content and an instruction for each end.
      const inside = total + 2;
      total = outer.pop() ?? 0;
      add(inside);
    } else if (char === "*" || char === "+" || char === "?" || char === "|") {
      total += 1;
    } else {
      add(1);
    }
  }
  return outer.reduce((sum, size) => sum + size, total);
}

/** The length of an escape or a class in brackets; 0 for other text. */
function lengthOfAtom(source: string, index: number): number {
  const char = source[index];
  if (char === "[") return matchAt(BRACKETS, source, index)?.[0].length ?? 0;
  if (char !== "\\") return 0;
  const named = /^\\[pPx]\{[^}]*\}/.exec(source.slice(index, index + 64));
  return named?.[0].length ?? (/^\\[pP]/.test(source.slice(index, index + 2)) ? 3 : 2);
}

function countUnicodeClasses(text: string): number {
  return text.match(UNICODE_CLASS)?.length ?? 0;
}

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}
