import { oneOf } from "@workflow/catalog";
import type { Problems } from "./problems.ts";
import { secretKeyProblem } from "./secret.ts";
import type { TemplateReference } from "./template-scan.ts";

/** What `run` and `loop` have (D19). */
const RUN_MEMBERS = ["id", "workflowId", "version", "startedAt"];
const LOOP_MEMBERS = ["item", "index"];
/** How much of a name that a caller wrote a message shows. */
const NAME_CHARS_SHOWN = 100;

/** Where a step stands among all steps. */
export interface StepPlace {
  id: string;
  /** Position in document order; a block's steps come after the step that holds it. */
  order: number;
  /** The blocks around the step, outermost first. */
  blocks: readonly BlockPlace[];
}

export interface BlockPlace {
  holderId: string;
  label: string | null;
  repeats: boolean;
}

/** A template in a step. */
export interface StepReference {
  place: StepPlace;
  reference: TemplateReference;
  /** Path of the string with the template in the definition. */
  path: readonly string[];
  /** Whether the steps that the step itself holds may be named, as in a loop's `while`. */
  seesOwnBlocks: boolean;
}

/**
 * Adds a violation for each template that can never have a value: because it names a step which can't
 * have run when the template is evaluated (D16), one that does not exist, comes later, is the step
 * itself or holds it, or is in another branch of the same step; or a member that `run`, `loop` or
 * `secrets` never has (D19). Yields after every reference, so that others can have their turn.
 */
export function* checkReferences(
  references: readonly StepReference[],
  places: ReadonlyMap<string, StepPlace>,
  problems: Problems,
): Generator<void> {
  for (const each of references) {
    if (problems.isFull) return;
    yield;
    const problem = findProblem(each, places);
    if (problem !== null) {
      problems.add(each.path, `Step ${JSON.stringify(each.place.id)} refers to ${problem}.`);
    }
  }
}

function findProblem(
  { place, reference, seesOwnBlocks }: StepReference,
  places: ReadonlyMap<string, StepPlace>,
): string | null {
  const { root, segments } = reference;
  const [member] = segments;
  switch (root) {
    case "steps":
      return findStepProblem(place, member ?? "", places, seesOwnBlocks);
    case "loop":
      return seesOwnBlocks || place.blocks.some(({ repeats }) => repeats)
        ? findMemberProblem(root, member, LOOP_MEMBERS)
        : "loop, which has a value only inside a loop or a parallel with forEach";
    case "run":
      return findMemberProblem(root, member, RUN_MEMBERS);
    case "secrets": {
      const problem = secretKeyProblem(member);
      return problem === null ? null : `the secret ${quote(member)}, but its key ${problem}`;
    }
    case "input":
    case "trigger":
      return null;
    default:
      return root satisfies never;
  }
}

/** Without a member it is the whole that is meant. */
function findMemberProblem(
  root: string,
  member: string | undefined,
  known: readonly string[],
): string | null {
  if (member === undefined || known.includes(member)) return null;
  return `${root}.${shorten(member)}, which does not exist; ${root} has ${oneOf(known, "and")}`;
}

function quote(text = ""): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return text.length > NAME_CHARS_SHOWN ? `${text.slice(0, NAME_CHARS_SHOWN)}…` : text;
}

function findStepProblem(
  from: StepPlace,
  targetId: string,
  places: ReadonlyMap<string, StepPlace>,
  seesOwnBlocks: boolean,
): string | null {
  const target = places.get(targetId);
  const name = `step ${JSON.stringify(targetId)}`;
  if (target === undefined) return `${name}, which does not exist`;
  if (target.id === from.id) return "its own output, which is not there before it has run";
  if (from.blocks.some(({ holderId }) => holderId === target.id)) {
    return `${name}, which holds it and has not ended by then`;
  }
  if (target.blocks.some(({ holderId }) => holderId === from.id)) {
    return seesOwnBlocks ? null : `${name}, which it holds and which runs only after this is known`;
  }
  const parting = from.blocks.findIndex((block, depth) => {
    const other = target.blocks[depth];
    return other?.holderId !== block.holderId || other.label !== block.label;
  });
  const here = from.blocks[parting];
  const there = target.blocks[parting];
  if (here !== undefined && here.holderId === there?.holderId) {
    return `${name}, which is in another branch of ${JSON.stringify(here.holderId)} and does not run with it; refer to it from after ${JSON.stringify(here.holderId)}`;
  }
  return target.order > from.order ? `${name}, which runs later; put it before this one` : null;
}
