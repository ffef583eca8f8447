import { oneOf } from "@workflow/catalog";
import type { Problems } from "./problems.ts";
import { secretKeyProblem } from "./secret.ts";
import type { TemplateReference } from "./template-scan.ts";

/** The members of `run` and `loop` (D19). */
const RUN_MEMBERS = ["id", "workflowId", "version", "startedAt"];
const LOOP_MEMBERS = ["item", "index"];
/** The most characters of a caller's name that a message quotes. */
const NAME_CHARS_SHOWN = 100;

/** The place of a step among all steps. */
export interface StepPlace {
  id: string;
  /** The position in document order. The steps of a block come after the step that holds the block. */
  order: number;
  /** The blocks that contain the step, outermost first. */
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
  /** The path in the definition of the string that holds the template. */
  path: readonly string[];
  /** Whether the template may name nested steps of its own step, as in a loop's `while`. */
  seesOwnBlocks: boolean;
}

/**
 * Adds a violation for each template that can never have a value. Such a template names a step that cannot
 * have run before (D16): an unknown or later step, the step itself or one that contains it, or a step in
 * another branch. Or it names an unknown member of `run`, `loop` or `secrets` (D19). Yields after every
 * reference, so that other work gets its turn.
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

/** A reference without a member means the whole object. */
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
