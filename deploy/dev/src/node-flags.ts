/**
 * Node's flags for each process of a service: the one of `npm start` (package.json), those of `npm run
 * start:separate`, and the images (deploy/docker/Dockerfile). They stop V8 from placing what a request allocates
 * where only major collections free it (ADR 58).
 */
export const NODE_FLAGS: readonly string[] = ["--no-allocation-site-pretenuring"];
