/** Notes a problem of a request's field. */
export type Refuse = (path: string[], message: string) => void;
