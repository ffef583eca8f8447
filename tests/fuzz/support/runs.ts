/** How many cases there are of each property: few in CI, as many as one likes by `npm run fuzz`. */
export const FUZZ_RUNS = Number(process.env["FUZZ_RUNS"] ?? 20);
