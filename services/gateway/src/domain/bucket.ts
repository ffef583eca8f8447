/** The rate limit that a request counts against (D9). */
export type Bucket = "read" | "write" | "execute";

/** Requests in any minute by bucket; 0 is no limit. */
export type BucketLimits = Readonly<Record<Bucket, number>>;

/** The limits that an operator has set for one company; null stands for the setting's value. */
export type OwnLimits = Readonly<Record<Bucket, number | null>>;
