import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { readProtos } from "../support/grpc-page/proto-model.ts";
import type { ProtoFile } from "../support/grpc-page/proto-model.ts";
import { renderGrpcPage } from "../support/grpc-page/render-page.ts";

const PAGE = new URL("../../services/gateway/src/docs/assets/grpc.html", import.meta.url);

describe("the reference of the gRPC services", () => {
  let files: ProtoFile[];

  beforeAll(async () => {
    files = await readProtos();
  });

  it("tells what the protos say", async () => {
    const page = renderGrpcPage(files);
    // `UPDATE_GRPC_DOC=1 npm test -- tests/contract/grpc-page` renews the page after a change.
    if (process.env["UPDATE_GRPC_DOC"] === "1") await writeFile(PAGE, page);
    expect(await readFile(PAGE, "utf8")).toBe(page);
  });

  it("finds a comment at every package, service, method, message, field, oneof, enum and value", () => {
    const elements = files.flatMap((file) => [
      file,
      ...file.services.flatMap((service) => [service, ...service.methods]),
      ...file.messages.flatMap((message) => [message, ...message.fields, ...message.oneofs]),
      ...file.enums.flatMap((type) => [type, ...type.values]),
    ]);
    expect(elements.length).toBeGreaterThan(1_000);
    expect(elements.filter(({ comment }) => comment === "").map(({ name }) => name)).toEqual([]);
  });

  it("leads nowhere in vain, has each anchor once, and needs no script and no other host", async () => {
    const page = await readFile(PAGE, "utf8");
    const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const known = new Set(ids);
    const targets = Array.from(page.matchAll(/ href="#([^"]+)"/g), ([, id]) => id);
    expect(targets.filter((id) => !known.has(id))).toEqual([]);
    const elsewhere = /<script|<style| style=| on[a-z]+=|(?:src|href)="(?:[a-z]+:)?\/\//;
    expect(page.match(elsewhere)).toBeNull();
  });
});
