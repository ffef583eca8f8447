import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromBinary, isFieldSet } from "@bufbuild/protobuf";
import {
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
  ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";

const PROTO_FOLDER = fileURLToPath(new URL("../../../proto", import.meta.url));

/** The element below a comment. */
interface Documented {
  name: string;
  /** The text without the slashes; empty when there is none. */
  comment: string;
}

/** A type as the page shows it; `fullName` for a message or an enum. */
export interface TypeName {
  text: string;
  fullName?: string | undefined;
}

export interface Field extends Documented {
  number: number;
  type: TypeName;
  /** `repeated`, `map`, `optional`, `one of <name>`, or empty: there, with its zero value by default. */
  presence: string;
}

export interface Message extends Documented {
  fullName: string;
  fields: Field[];
  oneofs: Documented[];
}

export interface Enum extends Documented {
  fullName: string;
  values: (Documented & { number: number })[];
}

export interface Method extends Documented {
  request: TypeName;
  response: TypeName;
  streamsRequests: boolean;
  streamsResponses: boolean;
}

export interface Service extends Documented {
  fullName: string;
  methods: Method[];
}

/** One file of `proto/workflow`. */
export interface ProtoFile extends Documented {
  /** Its package, such as `workflow.runs.v1`. */
  package: string;
  services: Service[];
  messages: Message[];
  enums: Enum[];
}

/** Reads all files of `proto/workflow` with their comments, as buf sees them. */
export async function readProtos(): Promise<ProtoFile[]> {
  const folder = await mkdtemp(join(tmpdir(), "protos-"));
  try {
    const image = join(folder, "image.binpb");
    const buf = fileURLToPath(new URL("../node_modules/.bin/buf", `file://${PROTO_FOLDER}/`));
    await promisify(execFile)(buf, ["build", "-o", image], { cwd: PROTO_FOLDER });
    const { file } = fromBinary(FileDescriptorSetSchema, await readFile(image));
    return file.filter(({ name }) => name.startsWith("workflow/")).map(toProtoFile);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The comment above the element at a path of field numbers of `descriptor.proto`. */
type CommentAt = (path: readonly number[]) => string;

/** The field numbers of `descriptor.proto` in paths to elements. */
const AT = {
  package: 2,
  message: 4,
  enum: 5,
  service: 6,
  field: 2,
  nestedMessage: 3,
  nestedEnum: 4,
  oneof: 8,
  method: 2,
  value: 2,
};

function toProtoFile(file: FileDescriptorProto): ProtoFile {
  const comments = new Map(
    file.sourceCodeInfo?.location.map(({ path, leadingComments }) => [
      path.join("."),
      leadingComments.trim(),
    ]),
  );
  const commentAt: CommentAt = (path) => comments.get(path.join(".")) ?? "";
  const within = { scope: file.package, commentAt };
  const all = file.messageType.map((message, index) =>
    withNested(message, { ...within, path: [AT.message, index] }),
  );
  return {
    name: file.name,
    comment: commentAt([AT.package]),
    package: file.package,
    services: file.service.map((service, index) =>
      toService(service, { ...within, path: [AT.service, index] }),
    ),
    messages: all.flatMap(({ messages }) => messages),
    enums: [
      ...file.enumType.map((type, index) => toEnum(type, { ...within, path: [AT.enum, index] })),
      ...all.flatMap(({ enums }) => enums),
    ],
  };
}

/** The place of an element: its scope and its path. */
interface Place {
  scope: string;
  path: number[];
  commentAt: CommentAt;
}

function toService(service: ServiceDescriptorProto, { scope, path, commentAt }: Place): Service {
  return {
    name: service.name,
    fullName: `${scope}.${service.name}`,
    comment: commentAt(path),
    methods: service.method.map((method, index) => ({
      name: method.name,
      comment: commentAt([...path, AT.method, index]),
      request: namedType(method.inputType),
      response: namedType(method.outputType),
      streamsRequests: method.clientStreaming,
      streamsResponses: method.serverStreaming,
    })),
  };
}

/** A message and the types declared inside it, on one level. */
function withNested(
  message: DescriptorProto,
  place: Place,
): { messages: Message[]; enums: Enum[] } {
  const { path, commentAt } = place;
  const fullName = `${place.scope}.${message.name}`;
  const maps = new Map(
    message.nestedType
      .filter(({ options }) => options?.mapEntry === true)
      .map((entry) => [`.${fullName}.${entry.name}`, entry]),
  );
  const nested = message.nestedType.flatMap((inner, index) =>
    inner.options?.mapEntry === true
      ? []
      : [
          withNested(inner, {
            scope: fullName,
            path: [...path, AT.nestedMessage, index],
            commentAt,
          }),
        ],
  );
  const own: Message = {
    name: message.name,
    fullName,
    comment: commentAt(path),
    fields: message.field.map((field, index) => ({
      name: field.name,
      number: field.number,
      comment: commentAt([...path, AT.field, index]),
      ...typeOf(field, message, maps),
    })),
    oneofs: declaredOneofs(message, (index) => commentAt([...path, AT.oneof, index])),
  };
  return {
    messages: [own, ...nested.flatMap(({ messages }) => messages)],
    enums: [
      ...message.enumType.map((type, index) =>
        toEnum(type, { scope: fullName, path: [...path, AT.nestedEnum, index], commentAt }),
      ),
      ...nested.flatMap(({ enums }) => enums),
    ],
  };
}

/** The compiler also makes a oneof for each optional field, which no author wrote. */
function declaredOneofs(
  message: DescriptorProto,
  commentAt: (index: number) => string,
): Documented[] {
  const made = new Set(
    message.field
      .filter(({ proto3Optional }) => proto3Optional)
      .map(({ oneofIndex }) => oneofIndex),
  );
  return message.oneofDecl.flatMap(({ name }, index) =>
    made.has(index) ? [] : [{ name, comment: commentAt(index) }],
  );
}

function toEnum(type: EnumDescriptorProto, { scope, path, commentAt }: Place): Enum {
  return {
    name: type.name,
    fullName: `${scope}.${type.name}`,
    comment: commentAt(path),
    values: type.value.map(({ name, number }, index) => ({
      name,
      number,
      comment: commentAt([...path, AT.value, index]),
    })),
  };
}

function typeOf(
  field: FieldDescriptorProto,
  message: DescriptorProto,
  maps: ReadonlyMap<string, DescriptorProto>,
): Pick<Field, "type" | "presence"> {
  const map = maps.get(field.typeName);
  if (map !== undefined) {
    const [key, value] = map.field.map(plainTypeOf);
    const text = `map<${key?.text ?? ""}, ${value?.text ?? ""}>`;
    return { type: { text, fullName: value?.fullName }, presence: "map" };
  }
  return { type: plainTypeOf(field), presence: presenceOf(field, message) };
}

function presenceOf(field: FieldDescriptorProto, message: DescriptorProto): string {
  if (field.label === Label.REPEATED) return "repeated";
  if (field.proto3Optional) return "optional";
  const oneof = message.oneofDecl[field.oneofIndex];
  const isMember = isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex);
  if (isMember && oneof !== undefined) return `one of ${oneof.name}`;
  return field.type === Type.MESSAGE ? "optional" : "";
}

function plainTypeOf(field: FieldDescriptorProto): TypeName {
  return field.typeName === "" ? { text: SCALARS[field.type] ?? "" } : namedType(field.typeName);
}

/** @param typeName with a dot before it */
function namedType(typeName: string): TypeName {
  const fullName = typeName.slice(1);
  return { text: fullName.slice(fullName.lastIndexOf(".") + 1), fullName };
}

const SCALARS: Readonly<Partial<Record<Type, string>>> = {
  [Type.DOUBLE]: "double",
  [Type.FLOAT]: "float",
  [Type.INT64]: "int64",
  [Type.UINT64]: "uint64",
  [Type.INT32]: "int32",
  [Type.UINT32]: "uint32",
  [Type.SINT32]: "sint32",
  [Type.SINT64]: "sint64",
  [Type.FIXED32]: "fixed32",
  [Type.FIXED64]: "fixed64",
  [Type.SFIXED32]: "sfixed32",
  [Type.SFIXED64]: "sfixed64",
  [Type.BOOL]: "bool",
  [Type.STRING]: "string",
  [Type.BYTES]: "bytes",
};
