import { Client, credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import type { handleUnaryCall, MethodDefinition } from "@grpc/grpc-js";
import { GetWorkflowRequest } from "@workflow/proto/workflows/v1/workflows";
import type { Pool } from "pg";
import { bareExpress, runFloor } from "./floor.ts";

/**
 * The floor under every read: bare Express, one gRPC hop within the process (as in `npm start`) and one select by
 * primary key with a prepared statement. The floor has no identity, no validation, and no envelope but for the size
 * of the answer.
 */
const ID = "00000000-0000-7000-8000-000000000000";

/** Any generated message of one string will do; this one serves both directions. */
interface Text {
  workflowId: string;
}
const encode = (text: Text): Buffer => Buffer.from(GetWorkflowRequest.encode(text).finish());
const decode = (bytes: Buffer): Text => GetWorkflowRequest.decode(bytes);

const READ: MethodDefinition<Text, Text> = {
  path: "/bench.Floor/Read",
  requestStream: false,
  responseStream: false,
  requestSerialize: encode,
  requestDeserialize: decode,
  responseSerialize: encode,
  responseDeserialize: decode,
};

runFloor(
  "create table if not exists bench.documents (id uuid primary key, body text not null)",
  async ({ database, document }) => {
    await database.query("insert into bench.documents (id, body) values ($1, $2)", [ID, document]);
    const client = new Client(await serve(database), credentials.createInsecure());
    const app = bareExpress();
    app.get("/documents/:id", async (request, response) => {
      const body = await call(client, request.params.id);
      response.type("json").send(body);
    });
    return app;
  },
);

async function serve(database: Pool): Promise<string> {
  const server = new Server();
  const read: handleUnaryCall<Text, Text> = ({ request }, respond) => {
    findDocument(database, request.workflowId).then(
      (body) => respond(null, { workflowId: body }),
      (error: Error) => respond(error),
    );
  };
  server.addService({ read: READ }, { read });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return `127.0.0.1:${port}`;
}

async function findDocument(database: Pool, id: string): Promise<string> {
  const { rows } = await database.query<{ body: string }>({
    name: "find-document",
    text: "select body from bench.documents where id = $1",
    values: [id],
  });
  return rows[0]?.body ?? "";
}

function call(client: Client, id: string): Promise<string> {
  const { path, requestSerialize, responseDeserialize } = READ;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { workflowId: id },
      (error, reply) => {
        if (error === null && reply !== undefined) resolve(reply.workflowId);
        else reject(error ?? new Error("no reply"));
      },
    );
  });
}
