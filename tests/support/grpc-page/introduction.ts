import type { ProtoFile } from "./proto-model.ts";
import { escapeHtml } from "./render-comment.ts";

/** The call that the page shows. */
const EXAMPLE = { service: "workflow.workflows.v1.WorkflowsService", method: "GetWorkflow" };
const EXAMPLE_FIELD = "workflow_id";

/** The default address of each service. */
const LISTENERS = [
  ["workflow.workflows", "WORKFLOWS_GRPC_ADDR", "127.0.0.1:50051"],
  ["workflow.runs", "RUNS_GRPC_ADDR", "127.0.0.1:50052"],
  ["workflow.tables", "TABLES_GRPC_ADDR", "127.0.0.1:50053"],
  ["workflow.integrations", "INTEGRATIONS_GRPC_ADDR", "127.0.0.1:50054"],
  ["workflow.webhooks", "WEBHOOKS_GRPC_ADDR", "127.0.0.1:50055"],
] as const;

/** The way to call a service. Throws when the method of the example is gone. */
export function introduction(files: readonly ProtoFile[]): string {
  checkExample(files);
  const { service, method } = EXAMPLE;
  const [[, , address]] = LISTENERS;
  const call = `TOKEN=$(npm run --silent admin -- mint-token --company ID --scopes workflows:read)
grpcurl -plaintext -max-time 10 -H "authorization: Bearer $TOKEN" \\
  -d '{"${EXAMPLE_FIELD}": "ID"}' ${address} ${service}/${method}`;
  return `<p>For programs inside the network of the services; everybody else uses the <a href="/docs/api">REST API</a>, which calls
them. This page is made from the files below <code>proto/</code>.</p>
<h2 id="calling">Calling a service</h2>
<pre tabindex="0"><code>${escapeHtml(call)}</code></pre>
<p>The metadata <code>authorization: Bearer …</code> goes along with every call. The token names the company and the
scopes; no request can name another company. <code>--ttl</code> says for how many seconds it is good (3,600 by
default), <code>--audience</code> at which services (at all by default), and <code>revoke-token</code> takes it back
within five seconds. Methods that need a scope beginning with <code>internal:</code> are for the services themselves: no
token is minted for those.</p>
<p>Every call should have a deadline. <code>x-request-id</code> in the metadata is noted in logs and events. A service
answers reflection, so grpcurl needs no files, on loopback addresses; elsewhere with <code>GRPC_REFLECTION=true</code>.
Beyond the machine there is TLS: leave out <code>-plaintext</code>.</p>
<p>An error is a gRPC status with <code>google.rpc.ErrorInfo</code>, whose <code>reason</code> is a code such as
<code>NOT_FOUND</code>, and <code>google.rpc.BadRequest</code> with the fields that are wrong.</p>
<p>A field that is not set has the zero value of its type: an empty text or list, 0, false. <code>optional</code> marks
those for which absent is something else than zero. What a method demands is said at the field. Fields that end in
<code>_json</code> hold JSON as text, in the form of the REST API.</p>
<table>
<thead><tr><th scope="col">Packages</th><th scope="col">Setting</th><th scope="col">Address by default</th></tr></thead>
<tbody>
${LISTENERS.map(([name, setting, at]) => `<tr><td><code>${name}.*</code></td><td><code>${setting}</code></td><td><code>${at}</code></td></tr>`).join("\n")}
</tbody>
</table>`;
}

function checkExample(files: readonly ProtoFile[]): void {
  const method = files
    .flatMap(({ services }) => services)
    .find(({ fullName }) => fullName === EXAMPLE.service)
    ?.methods.find(({ name }) => name === EXAMPLE.method);
  const request = files
    .flatMap(({ messages }) => messages)
    .find(({ fullName }) => fullName === method?.request.fullName);
  if (!request?.fields.some(({ name }) => name === EXAMPLE_FIELD)) {
    throw new Error(`${EXAMPLE.service}/${EXAMPLE.method} takes no ${EXAMPLE_FIELD} any more.`);
  }
}
