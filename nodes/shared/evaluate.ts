import type { Node, NodeAPI } from 'node-red';
import type { Evaluate } from '../../src/flow/field';

/** Evaluates typed fields as the node would. A JSONata expression is compiled once. */
export function evaluator(RED: NodeAPI, node: Node): Evaluate {
  type Expression = ReturnType<typeof RED.util.prepareJSONataExpression>;
  const expressions = new Map<string, Expression>();
  return (value, type, msg) =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null, result: unknown) => {
        if (error) reject(error);
        else resolve(result);
      };
      if (type !== 'jsonata') {
        RED.util.evaluateNodeProperty(value, type, node, msg, settle);
        return;
      }
      let expression = expressions.get(value);
      if (expression === undefined) {
        expression = RED.util.prepareJSONataExpression(value, node);
        expressions.set(value, expression);
      }
      RED.util.evaluateJSONataExpression(expression, msg, settle);
    });
}
