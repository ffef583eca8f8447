/**
 * What each process of a service is started with, besides its program: the one process of `npm start`
 * (package.json), those of `npm run start:separate`, and the images (deploy/docker/Dockerfile).
 * V8 would allocate what it once saw survive in the old generation, where only major collections free it.
 * Requests live as long as their calls, so V8 saw most of them survive (ADR 58).
 */
export const NODE_FLAGS: readonly string[] = ["--no-allocation-site-pretenuring"];
