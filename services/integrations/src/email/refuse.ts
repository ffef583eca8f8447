/** Notes what is wrong with a field of a request. */
export type Refuse = (path: string[], message: string) => void;
