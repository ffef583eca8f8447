import { createHash } from "node:crypto";
import { listExpressions, validateInTurns } from "@workflow/definition";
import type { ParsedExpression } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { ExpressionError } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import { LRUCache } from "lru-cache";
import { invalidDefinition, parseStored } from "../domain/content.ts";
import type { DefinitionTexts } from "../domain/content.ts";

/** A definition to check, and how. */
export interface DefinitionQuestion {
  companyId: string;
  content: DefinitionTexts;
  /** Whether loops and parallel steps may still be empty. */
  mayBeUnfinished: boolean;
  /**
   * Whether the definition is executed as soon as it is stored; then the execution plane is asked
   * too.
   */
  toBeDeployed?: boolean;
}

/**
 * Asks the execution plane about a definition that will be executed.
 *
 * @throws AppError VALIDATION_ERROR when it would refuse
 */
export type DeploymentCheck = (question: DefinitionQuestion) => Promise<void>;

/** Validates definitions in slices and in other processes, and caches the findings. */
export interface DefinitionChecker {
  /**
   * The problems of a definition, its expressions included.
   *
   * @throws AppError RATE_LIMITED when too many of the company's expressions wait already;
   * VALIDATION_ERROR when the execution plane would refuse a valid definition
   */
  check(question: DefinitionQuestion): Promise<readonly Violation[]>;
  /**
   * Checks that a definition can be stored: that it is executable or, with `mayBeUnfinished`, a valid draft.
   *
   * @throws AppError VALIDATION_ERROR with one violation for each problem, and what `check` throws
   */
  requireValid(question: DefinitionQuestion): Promise<void>;
  /** The cached problems of a definition; undefined for one that is not cached. */
  recall(question: DefinitionQuestion): readonly Violation[] | undefined;
}

/** Most findings are empty; this size is the least for some thousands of them. */
const FINDINGS_BYTES_MAX = 8 * 1024 * 1024;
const FINDING_BYTES_EACH = 256;

/**
 * Makes a checker that parses expressions in the pool.
 *
 * @param checkDeployment asks the execution plane; without it nobody is asked
 */
export function createDefinitionChecker(
  pool: ExpressionPool,
  checkDeployment?: DeploymentCheck,
): DefinitionChecker {
  const findings = new LRUCache<string, readonly Violation[]>({ maxSize: FINDINGS_BYTES_MAX });
  /** The last check of each company: a large definition takes memory while it is checked. */
  const running = new Map<string, Promise<readonly Violation[]>>();

  const remember = (question: DefinitionQuestion, found: readonly Violation[]): void => {
    const size = FINDING_BYTES_EACH + (found.length === 0 ? 0 : JSON.stringify(found).length);
    findings.set(keyOf(question), found, { size });
  };

  const find = async (question: DefinitionQuestion): Promise<readonly Violation[]> => {
    const known = findings.get(keyOf(question));
    if (known !== undefined) return known;
    const found = await validate(pool, question);
    remember(question, found);
    return found;
  };

  const findInTurn = async (question: DefinitionQuestion): Promise<readonly Violation[]> => {
    const { companyId } = question;
    const before = running.get(companyId);
    const found = (before ?? Promise.resolve([])).then(
      () => find(question),
      () => find(question),
    );
    running.set(companyId, found);
    try {
      return await found;
    } finally {
      if (running.get(companyId) === found) running.delete(companyId);
    }
  };

  const check = async (question: DefinitionQuestion): Promise<readonly Violation[]> => {
    const { toBeDeployed = false, ...definition } = question;
    const found = findings.get(keyOf(question)) ?? (await findInTurn(definition));
    if (!toBeDeployed || findings.has(keyOf(question))) return found;
    if (found.length === 0) await checkDeployment?.(definition);
    // A refusal is not cached, because the next version of the execution plane may accept the
    // definition.
    remember(question, found);
    return found;
  };

  return {
    check,
    recall: (question) => findings.get(keyOf(question)),
    async requireValid(question) {
      const violations = await check(question);
      if (violations.length > 0) throw invalidDefinition(violations);
    },
  };
}

function keyOf(question: DefinitionQuestion): string {
  const { companyId, content, mayBeUnfinished, toBeDeployed = false } = question;
  const { triggerJson, stepsJson, inputSchemaJson, outputSchemaJson, settingsJson } = content;
  const hash = createHash("sha256");
  for (const text of [
    companyId,
    String(mayBeUnfinished),
    String(toBeDeployed),
    triggerJson,
    stepsJson,
    inputSchemaJson,
    outputSchemaJson,
    settingsJson,
  ]) {
    // The length separates the texts, so that no two lists of texts have one key.
    hash.update(`${text?.length ?? "null"}:`).update(text ?? "");
  }
  return hash.digest("base64");
}

async function validate(
  pool: ExpressionPool,
  { companyId, content, mayBeUnfinished }: DefinitionQuestion,
): Promise<readonly Violation[]> {
  const definition = parseStored(content);
  const parsed = await Promise.all(
    listExpressions(definition.steps).map(
      async (text) => [text, await parseExpression(pool, companyId, text)] as const,
    ),
  );
  const expressions = new Map<string, ParsedExpression>(parsed);
  const result = await validateInTurns(definition, { mayBeUnfinished, expressions });
  return result.ok ? [] : result.violations;
}

/** An expression that a process cannot parse within its limits is invalid. */
async function parseExpression(
  pool: ExpressionPool,
  companyId: string,
  text: string,
): Promise<ParsedExpression> {
  try {
    return await pool.parse(companyId, text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    switch (error.code) {
      case "EXPRESSION_TIMEOUT":
        return { ok: false, message: "takes too long to be parsed" };
      case "EXPRESSION_MEMORY":
        return { ok: false, message: "needs too much memory to be parsed" };
      case "EXPRESSION_QUEUE_FULL":
        throw new AppError("RATE_LIMITED", "Too many definitions are being checked. Try again.", {
          cause: error,
        });
      case "ABORTED":
        throw new AppError("UNAVAILABLE", "The service is stopping.", { cause: error });
      case "EXPRESSION_FAILED":
      case "OUTPUT_TOO_LARGE":
        throw error;
      default:
        return error.code satisfies never;
    }
  }
}
