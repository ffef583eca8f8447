import type { Tool } from "@workflow/proto/workflows/v1/tools";
import type { ToolRow } from "../store/tools.ts";

export function toToolMessage({ inputSchemaJson, outputSchemaJson, ...tool }: ToolRow): Tool {
  return {
    ...tool,
    inputSchemaJson: inputSchemaJson ?? undefined,
    outputSchemaJson: outputSchemaJson ?? undefined,
  };
}
