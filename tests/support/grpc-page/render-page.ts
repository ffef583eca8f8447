import { referencesNavigation } from "../../../services/gateway/src/docs/references.ts";
import { escapeHtml, inline, paragraphs } from "./render-comment.ts";
import { introduction } from "./introduction.ts";
import type { Enum, Field, Message, Method, ProtoFile, Service, TypeName } from "./proto-model.ts";

/** The page that the gateway serves as the reference of the gRPC services, whole. */
export function renderGrpcPage(files: readonly ProtoFile[]): string {
  const known = new Set(
    files.flatMap(({ messages, enums }) => [...messages, ...enums].map(({ fullName }) => fullName)),
  );
  const packages = [...Map.groupBy(files, (file) => file.package)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workflow automation: gRPC services</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="grpc.css">
</head>
<body>
${referencesNavigation("grpc", "page", "/api/v1/openapi.json")}
<div class="columns">
<nav class="index" aria-label="Contents">
<ul>
<li><a href="#calling">Calling a service</a></li>
</ul>
${packages.map(([name, members]) => indexOf(name, members)).join("\n")}
</nav>
<main>
<h1>gRPC services</h1>
${introduction(files)}
${packages.map(([name, members]) => packageSection(name, members, known)).join("\n")}
</main>
</div>
</body>
</html>
`;
}

function indexOf(name: string, files: readonly ProtoFile[]): string {
  const services = files.flatMap((file) => file.services);
  const types = files.flatMap((file) => [...file.messages, ...file.enums]);
  return `<h2><a href="#${name}">${name}</a></h2>
<ul>
${services.map(serviceIndex).join("\n")}
<li><details><summary>${types.length} messages and enums</summary>
<ul>
${types.map(({ fullName }) => `<li>${linkTo(fullName, within(fullName, name))}</li>`).join("\n")}
</ul>
</details></li>
</ul>`.replaceAll("\n\n", "\n");
}

function serviceIndex({ name, fullName, methods }: Service): string {
  return `<li><a href="#${fullName}">${name}</a>
<ul>
${methods.map((method) => `<li>${linkTo(`${fullName}.${method.name}`, method.name)}</li>`).join("\n")}
</ul></li>`;
}

function packageSection(
  name: string,
  files: readonly ProtoFile[],
  known: ReadonlySet<string>,
): string {
  return `<section aria-labelledby="${name}">
<h2 id="${name}">${name}</h2>
${files.map((file) => fileSection(file, known)).join("\n")}
</section>`;
}

function fileSection(file: ProtoFile, known: ReadonlySet<string>): string {
  return [
    paragraphs(file.comment),
    `<p class="source">proto/${file.name}</p>`,
    ...file.services.map((service) => serviceSection(service, known)),
    ...file.messages.map((message) => messageSection(message, file.package, known)),
    ...file.enums.map((type) => enumSection(type, file.package)),
  ].join("\n");
}

function serviceSection(service: Service, known: ReadonlySet<string>): string {
  const { name, fullName, comment, methods } = service;
  return `<h3 id="${fullName}"><span>service</span> ${name}</h3>
${paragraphs(comment)}
${methods.map((method) => methodSection(method, fullName, known)).join("\n")}`;
}

function methodSection(method: Method, service: string, known: ReadonlySet<string>): string {
  const { name, comment, request, response, streamsRequests, streamsResponses } = method;
  const taken = (streamsRequests ? "stream " : "") + typeLink(request, known);
  const given = (streamsResponses ? "stream " : "") + typeLink(response, known);
  return `<h4 id="${service}.${name}"><span>rpc</span> ${name}</h4>
<p class="signature"><code>${name}(${taken}) returns (${given})</code></p>
${paragraphs(comment)}`;
}

function messageSection(
  { fullName, comment, fields, oneofs }: Message,
  scope: string,
  known: ReadonlySet<string>,
): string {
  const head = `<h3 id="${fullName}"><span>message</span> ${within(fullName, scope)}</h3>
${paragraphs(comment)}`;
  if (fields.length === 0) return `${head}\n<p>It has no fields.</p>`;
  const choices = oneofs.map(
    (oneof) => `<p><code>${oneof.name}</code>, one of several fields: ${inline(oneof.comment)}</p>`,
  );
  return [
    head,
    ...choices,
    `<table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Number</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${fields.map((field) => fieldRow(field, fullName, known)).join("\n")}
</tbody>
</table>`,
  ].join("\n");
}

function fieldRow(field: Field, message: string, known: ReadonlySet<string>): string {
  const { name, number, type, presence, comment } = field;
  const isShown = presence !== "" && presence !== "map";
  const label = isShown ? `<br><small>${escapeHtml(presence)}</small>` : "";
  return `<tr id="${message}.${name}"><td><code>${name}</code></td><td><code>${typeLink(type, known)}</code>${label}</td><td>${number}</td><td>${paragraphs(comment)}</td></tr>`;
}

function enumSection({ fullName, comment, values }: Enum, scope: string): string {
  const rows = values.map(
    (value) =>
      `<tr id="${fullName}.${value.name}"><td><code>${value.name}</code></td><td>${value.number}</td><td>${paragraphs(value.comment)}</td></tr>`,
  );
  return `<h3 id="${fullName}"><span>enum</span> ${within(fullName, scope)}</h3>
${paragraphs(comment)}
<table>
<thead><tr><th scope="col">Value</th><th scope="col">Number</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
}

/** Types of Google have their description elsewhere, so their full names are shown. */
function typeLink({ text, fullName }: TypeName, known: ReadonlySet<string>): string {
  if (fullName === undefined) return escapeHtml(text);
  return known.has(fullName) ? linkTo(fullName, text) : escapeHtml(fullName);
}

function linkTo(id: string, text: string): string {
  return `<a href="#${id}">${escapeHtml(text)}</a>`;
}

function within(fullName: string, scope: string): string {
  return fullName.slice(scope.length + 1);
}
