/** The state of the visual editor, as a client saves it. */
export interface CanvasState {
  blocks: Record<string, unknown>;
  edges: unknown[];
  loops: Record<string, unknown>;
  parallels: Record<string, unknown>;
  viewport?: unknown;
}

/** A block with all fields that the contract requires. */
export function canvasBlock(id: string, changes: Record<string, unknown> = {}) {
  return {
    id,
    type: "transform",
    name: id,
    position: { x: 10.5, y: -20 },
    subBlocks: { mapping: { id: "mapping", type: "code", value: "{}" } },
    outputs: {},
    enabled: true,
    horizontalHandles: true,
    ...changes,
  };
}

/** A canvas that shows these blocks. */
export function canvasState(
  blocks: readonly { id: string }[] = [canvasBlock("greet")],
  changes: Partial<CanvasState> = {},
): CanvasState {
  return {
    blocks: Object.fromEntries(blocks.map((block) => [block.id, block])),
    edges: [{ id: "e1", source: "start", target: "greet" }],
    loops: {},
    parallels: {},
    viewport: { x: 0, y: 0, zoom: 1 },
    ...changes,
  };
}
