/** For so long an event is its process's own; above the time that starting its runs may take. */
export const LEASE_SECONDS = 10;
