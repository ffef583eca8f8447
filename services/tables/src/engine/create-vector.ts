import type { SavedPart } from "./saved-part.ts";
import type { Steps } from "./steps.ts";
import { NumberVector } from "./number-vector.ts";
import { TextVector } from "./text-vector.ts";
import type { Vector, VectorType } from "./vector.ts";

/** An empty vector for the values of a column, or ("any") of a key that no column declares. */
export function createVector(type: VectorType): Vector {
  switch (type) {
    case "number":
    case "date":
    case "boolean":
      return new NumberVector(type);
    case "text":
    case "url":
    case "email":
    case "select":
    case "json":
    case "any":
      return new TextVector(type);
  }
}

/** The vector that has given these parts (`Vector.save`). */
export function* restoreVector(parts: Iterable<SavedPart>): Steps<Vector> {
  let vector: Vector | null = null;
  for (const part of parts) {
    if (part.kind === "cells") vector = createVector(part.type);
    if (vector === null) throw new TypeError("A saved vector begins with its cells.");
    vector.restore(part);
    yield;
  }
  if (vector === null) throw new TypeError("A saved vector has parts.");
  return vector;
}
