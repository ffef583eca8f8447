import { chmod, copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  cleanUp,
  exists,
  killGroup,
  launchProgram,
  ordinaryUser,
  temporaryFolder,
} from "./support/system.ts";
import type { Outcome, RunningProcess } from "./support/system.ts";

const INSTALL = join(import.meta.dirname, "../install.sh");

/**
 * Stands in for npm, which takes a minute: says what it finds, writes a package in two halves and
 * npm's record, and halts at the moment that HALT_AT names.
 */
const NPM = `#!/bin/sh
halt_at() {
  [ "$HALT_AT" = "$1" ] || return 0
  : > reached
  until [ -e go-on ]; do sleep 0.05; done
}
echo "$(ls -A node_modules 2>/dev/null | tr '\\n' ' ')" >> npm-calls
halt_at nothing
mkdir -p node_modules/left-pad
echo half > node_modules/left-pad/index.js
halt_at half
echo whole > node_modules/left-pad/index.js
halt_at unrecorded
: > node_modules/.package-lock.json
halt_at recorded
`;

let project: string;

afterAll(cleanUp);

beforeEach(async () => {
  project = join(await temporaryFolder(), "a project");
  await mkdir(join(project, "deploy/dev"), { recursive: true });
  await mkdir(join(project, "bin"));
  await copyFile(INSTALL, join(project, "deploy/dev/install.sh"));
  await writeFile(join(project, "package-lock.json"), "one");
  await writeFile(join(project, "bin/npm"), NPM, { mode: 0o755 });
});

function launchInstall(haltAt = ""): RunningProcess {
  const PATH = `${join(project, "bin")}:${process.env["PATH"]}`;
  const script = join(project, "deploy/dev/install.sh");
  return launchProgram("sh", [script], { PATH, HALT_AT: haltAt });
}

function install(): Promise<Outcome> {
  return launchInstall().ended;
}

async function haltedInstall(haltAt: string): Promise<RunningProcess> {
  const running = launchInstall(haltAt);
  await waitFor(() => exists(join(project, "reached")), { what: `npm to reach "${haltAt}"` });
  return running;
}

/** What npm has found in node_modules at each of its calls. */
async function npmCalls(): Promise<string[]> {
  const text = await readFile(join(project, "npm-calls"), "utf8").catch(() => "");
  return text.split("\n").slice(0, -1);
}

async function kill({ child, ended }: RunningProcess): Promise<void> {
  killGroup(child);
  await ended;
}

describe("an installation", () => {
  it("is made once, and again for another package-lock.json, then on what is there", async () => {
    expect(await install()).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await install()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await npmCalls()).toEqual([""]);
    await writeFile(join(project, "package-lock.json"), "two");
    expect(await install()).toMatchObject({ exitCode: 0 });
    expect(await npmCalls()).toEqual(["", "left-pad "]);
  });

  it.each(["nothing", "half", "unrecorded"])(
    'that was killed at "%s" is noticed and made from scratch',
    async (moment) => {
      await kill(await haltedInstall(moment));
      expect(await install()).toMatchObject({ exitCode: 0 });
      expect(await npmCalls()).toEqual(["", ""]);
      expect(await install()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    },
  );

  it("that was killed when npm had finished is taken as it is", async () => {
    await kill(await haltedInstall("recorded"));
    expect(await install()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await npmCalls()).toEqual([""]);
  });

  it("that was killed while it changed a whole tree is noticed, also by the old package-lock.json", async () => {
    await install();
    await writeFile(join(project, "package-lock.json"), "two");
    await kill(await haltedInstall("half"));
    await writeFile(join(project, "package-lock.json"), "one");
    expect(await install()).toMatchObject({ exitCode: 0 });
    expect(await npmCalls()).toEqual(["", "left-pad ", ""]);
  });

  it("that fails is an error, and is made from scratch the next time", async () => {
    await writeFile(join(project, "bin/npm"), NPM.replace("halt_at unrecorded", "exit 7"));
    expect((await install()).exitCode).toBe(7);
    await writeFile(join(project, "bin/npm"), NPM);
    expect(await install()).toMatchObject({ exitCode: 0 });
    expect(await npmCalls()).toEqual(["", ""]);
  });

  it("is not hindered by the lock that an older release has left", async () => {
    await mkdir(join(project, ".cache/install.lock"), { recursive: true });
    expect(await install()).toMatchObject({ exitCode: 0 });
  });
});

describe("installations at once", () => {
  it("are one: the others say that they wait, and find it done", async () => {
    const first = await haltedInstall("half");
    const second = launchInstall();
    await waitFor(() => second.stderr().includes("Waiting for another installation"));
    await writeFile(join(project, "go-on"), "");
    expect(await first.ended).toMatchObject({ exitCode: 0 });
    expect(await second.ended).toMatchObject({ exitCode: 0 });
    expect(await npmCalls()).toEqual([""]);
  });

  it("wait for an npm whose shell was killed, since it still writes", async () => {
    const first = await haltedInstall("unrecorded");
    first.child.kill("SIGKILL");
    const second = launchInstall();
    await waitFor(() => second.stderr().includes("Waiting for another installation"));
    await writeFile(join(project, "go-on"), "");
    expect(await second.ended).toMatchObject({ exitCode: 0 });
    expect(await npmCalls()).toEqual([""]);
    const files = await readdir(join(project, "node_modules"));
    expect(files.toSorted()).toEqual([".installed", ".package-lock.json", "left-pad"]);
  });
});

describe("a folder that may not be written to", () => {
  it("needs no installation when there is one, and else says what is missing", async () => {
    const user = await ordinaryUser();
    const script = join(project, "deploy/dev/install.sh");
    await chmod(project, 0o555);
    try {
      const nothing = await launchProgram("sh", [script], {}, { user }).ended;
      expect(nothing).toMatchObject({ exitCode: 1, stdout: "" });
      expect(nothing.stderr).toContain(`${project} is not writable`);
      expect(nothing.stderr).toContain("npm install");
    } finally {
      await chmod(project, 0o755);
    }
    await install();
    await chmod(project, 0o555);
    try {
      const installed = await launchProgram("sh", [script], {}, { user }).ended;
      expect(installed).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    } finally {
      await chmod(project, 0o755);
    }
  });
});
