import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import { format, resolveConfig } from "prettier";
import { apiDocument, listOperations, documentForClient } from "./document.ts";
import type { ApiDocument, DocumentedOperation } from "./document.ts";
import { nameOf } from "./names.ts";
import { comment, printOperation } from "./operation-code.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
const SOURCE = join(import.meta.dirname, "../src/generated");
/** Where the code goes; the test of what is committed wants it elsewhere. */
const TARGET = process.argv[2] ?? SOURCE;
const DOCUMENT = join(REPOSITORY, "services/gateway/openapi.json");

const HEAD = "// Made from services/gateway/openapi.json by `npm run client:generate`.\n";
/** Operations that are written by hand, since they are more than one call; and the return of a browser. */
const BY_HAND = new Set(["runWorkflow", "watchRun", "authorizationCallback"]);

const document = apiDocument.parse(JSON.parse(await readFile(DOCUMENT, "utf8")));
const operations = listOperations(document).filter(({ operationId }) => !BY_HAND.has(operationId));
await write("types.gen.ts", await typesOf(document));
await write("operations.gen.ts", operationsModule(document, operations));
await write("resources.gen.ts", resourcesModule(operations));

async function write(name: string, code: string): Promise<void> {
  const config = await resolveConfig(join(SOURCE, name));
  await writeFile(join(TARGET, name), await format(HEAD + code, { ...config, filepath: name }));
}

/** The types of components, bodies, queries and answers. */
async function typesOf(whole: ApiDocument): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "workflow-client-"));
  try {
    await createClient({
      input: { ...documentForClient(whole) },
      output: folder,
      plugins: ["@hey-api/typescript"],
      logs: { level: "silent" },
    });
    return await readFile(join(folder, "types.gen.ts"), "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

function operationsModule(whole: ApiDocument, all: readonly DocumentedOperation[]): string {
  const printed = all.map((operation) => printOperation(whole, operation));
  const types = [...new Set(printed.flatMap(({ types: names }) => names))].sort();
  return `import type { Api, CallOptions, IfMatch } from "../api.ts";
import { call, callForStream } from "../call.ts";
import { list } from "../list.ts";
import type { List } from "../list.ts";
import type { Query } from "../request.ts";
import type { ${types.join(", ")} } from "./types.gen.ts";

${printed.map(({ code }) => code).join("\n")}`;
}

/** The operations in groups, under the names that a client has for them. */
function resourcesModule(all: readonly DocumentedOperation[]): string {
  const groups = new Map<string, Map<string, DocumentedOperation>>();
  for (const operation of all) {
    const { group, method } = nameOf(operation);
    const methods = groups.get(group) ?? new Map<string, DocumentedOperation>();
    groups.set(group, methods);
    const taken = methods.get(method)?.operationId;
    if (taken !== undefined) {
      throw new Error(`${operation.operationId} and ${taken} are both ${group}.${method}.`);
    }
    methods.set(method, operation);
  }
  const printed = [...groups].map(([group, methods]) => {
    const entries = [...methods].map(
      ([method, operation]) => `${comment(operation)}\n${method}: ${operation.operationId},`,
    );
    return `${group}: {\n${entries.join("\n")}\n},`;
  });
  const names = all.map(({ operationId }) => operationId).sort();
  return `import { ${names.join(", ")} } from "./operations.gen.ts";

/** Every operation that is one call, by what it is about. */
export const RESOURCES = {
${printed.join("\n")}
};
`;
}
