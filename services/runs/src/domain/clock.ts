/** The time by which runs are due. It is the database's time, whatever the clock of this machine says. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
