/** The time for which an event belongs to its process: longer than starting its runs may take. */
export const LEASE_SECONDS = 10;
