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
