/** Tells the time by which runs are due: that of the database, whatever the clock of this machine says. */
export interface Clock {
  /** Milliseconds of the epoch. */
  now(): number;
}
