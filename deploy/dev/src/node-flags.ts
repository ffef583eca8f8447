/**
 * What each process of a service is started with, besides its program: the one process of `npm start`
 * (package.json), those of `npm run start:separate`, and the images (deploy/docker/Dockerfile).
 * The flag stops V8 from guessing what will live long. V8 guessed so of nearly all that a request allocates, and
 * put it where only major collections free it (ADR 58).
 */
export const NODE_FLAGS: readonly string[] = ["--no-allocation-site-pretenuring"];
