import type { FlowNode } from '../../support/node-red';

/** The same nodes with a place on the canvas: without one Node-RED takes them for config nodes, and a Catch node hears nothing. */
export const placed = (flow: readonly FlowNode[]): FlowNode[] =>
  flow.map((node) => (node.z === undefined ? node : { x: 100, y: 100, ...node }));
