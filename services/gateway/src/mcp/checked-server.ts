import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { explainIssue, toViolations } from "../errors/violations.ts";

type ServerParameters = ConstructorParameters<typeof Server>;
type Handler = ReturnType<Server["_wrapHandler"]>;

const page = z.looseObject({ cursor: z.string().optional() }).optional();

/** The parameter schemas of the served methods. */
const PARAMS = new Map<string, z.ZodType>([
  ["tools/list", page],
  ["resources/list", page],
  ["resources/templates/list", page],
  ["resources/read", z.looseObject({ uri: z.string() })],
  ["tools/call", z.looseObject({ name: z.string(), arguments: z.looseObject({}).optional() })],
]);

/**
 * The protocol's server, with clear errors for wrong parameters. By itself it reports them as
 * internal errors, with its schemas' raw messages.
 */
export class CheckedServer extends Server {
  readonly #explain: (error: AppError) => ProtocolError;

  /** @param explain turns an error into the one that the caller gets */
  constructor([info, options]: ServerParameters, explain: (error: AppError) => ProtocolError) {
    super(info, options);
    this.#explain = explain;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const inner = super._wrapHandler(method, handler);
    return async (request, context) => {
      const checked = PARAMS.get(method)?.safeParse(request.params, { error: explainIssue });
      if (checked?.error !== undefined) throw this.#explain(wrongParams(method, checked.error));
      try {
        return await inner(request, context);
      } catch (error) {
        // Handlers throw nothing else, so this error comes from the protocol's own checks.
        throw error instanceof ProtocolError ? error : this.#explain(wrongParams(method));
      }
    };
  }
}

function wrongParams(method: string, error?: z.ZodError): AppError {
  const violations = error === undefined ? [] : toViolations(error);
  const where = violations.map(
    ({ path, message }) => `${["params", ...path].join(".")} ${message}`,
  );
  const what = where.length === 0 ? "" : `: ${where.join("; ")}`;
  return new AppError("VALIDATION_ERROR", `The parameters of ${method} are not valid${what}.`, {
    violations,
  });
}
