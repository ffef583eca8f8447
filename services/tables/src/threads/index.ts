export { threadCount } from "./thread-count.ts";
export { TableThreads } from "./table-threads.ts";
