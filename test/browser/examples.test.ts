import assert from 'node:assert/strict';
import { examples } from '../support/examples';
import type { FlowNode } from '../support/node-red';
import { Dashboard } from './dashboard';
import { Editor } from './editor';
import { setStage } from './stage';

interface Box {
  id: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** Whether all four corners are in the part of the chart that palette, sidebar and foot leave free. */
  seen: boolean;
}

describe('the examples, imported one after the other into one Node-RED, in a window of 1400 by 900', () => {
  const stage = setStage({ nodeRed: { dashboard: true } });
  let editor: Editor;

  before(async function () {
    editor = await Editor.open(stage.browser, stage.red.url);
    await editor.page.setViewportSize({ width: 1400, height: 900 });
    for (const { name } of examples()) await editor.importExample(name);
    await editor.deploy();
    // They lie over the chart for some seconds.
    for (const note of await editor.page.locator('.red-ui-notification').all()) {
      await note.waitFor({ state: 'hidden', timeout: 30_000 });
    }
  });
  after(async () => {
    await editor.close();
  });

  it('ask nothing, log no error, and share one dashboard with a page each', async () => {
    assert.deepEqual(editor.errors, []);
    assert.deepEqual(
      stage.red.log.items.filter(({ level }) => level === 'error'),
      [],
    );
    const flows = await stage.red.getFlows();
    const imported = examples().flatMap(({ nodes }) => nodes);
    const ids = (nodes: readonly FlowNode[]) =>
      nodes
        .filter(({ type, id }) => !['ui-base', 'global-config'].includes(type) && id.startsWith('strip'))
        .map(({ id }) => id)
        .sort();
    assert.deepEqual(ids(flows), ids(imported));
    assert.equal(flows.filter(({ type }) => type === 'ui-base').length, 1);
    const dashboard = await Dashboard.open(stage.browser, stage.red.url);
    await dashboard.page.goto(`${stage.red.url}/dashboard/all-strips`);
    await dashboard.page.getByRole('switch', { name: 'Desk lamp' }).waitFor();
    await dashboard.page.close();
  });

  for (const { name, nodes } of examples()) {
    it(`${name}: every node is seen without scrolling, none lies on another, and no wire runs behind one`, async () => {
      // The dashboard's is longer than a window: it is used in the browser, and has nothing to click.
      const long = nodes.every(({ type }) => type !== 'inject');
      await showTabOf(editor, nodes);
      // A busy machine needs a while to draw all nodes at their places.
      const deadline = Date.now() + 20_000;
      let problems = problemsOf(await boxesOf(editor), long);
      while (problems.length > 0 && Date.now() < deadline) problems = problemsOf(await boxesOf(editor), long);
      assert.deepEqual(problems, []);
      assert.deepEqual(await hiddenWires(editor), []);
    });
  }
});

/** Pixels that are free between two nodes, their ports left out, so that a wire is seen. Labels are wider with the fonts of other machines. */
const GAP = 5;

/** Nodes that cannot be seen, lie on another, or are too near beside it. `long`: the flow may end below the window. */
function problemsOf(boxes: readonly Box[], long: boolean): string[] {
  const hidden = boxes.filter(({ seen, bottom }) => !seen && !(long && bottom > 850));
  const covered = boxes.filter((one) =>
    boxes.some(
      (other) =>
        other.id !== one.id &&
        one.left < other.right + GAP &&
        other.left < one.right + GAP &&
        one.top < other.bottom &&
        other.top < one.bottom,
    ),
  );
  const told = ({ id, left, top, right, bottom }: Box) => `${id}: ${left} to ${right}, ${top} to ${bottom}`;
  return [...hidden, ...covered].map(told);
}

/** The wires that run behind a node between their ends, each as `from > to behind node`. */
async function hiddenWires(editor: Editor): Promise<string[]> {
  return await editor.page.evaluate(() => {
    interface Placed {
      id: string;
      x: number;
      y: number;
      w: number;
      h: number;
    }
    interface Wire {
      source: Placed;
      target: Placed;
    }
    // d3 keeps with each element what it was drawn from.
    const nodes = [...document.querySelectorAll('.red-ui-flow-node-group')].map(
      (group) => (group as unknown as { __data__: Placed }).__data__,
    );
    return [...document.querySelectorAll('.red-ui-flow-link')].flatMap((group) => {
      const { source, target } = (group as unknown as { __data__: Wire }).__data__;
      const path = group.querySelector<SVGPathElement>('.red-ui-flow-link-line');
      if (path === null) return [];
      const points = Array.from({ length: Math.ceil(path.getTotalLength() / 2) }, (_, index) =>
        path.getPointAtLength(index * 2),
      );
      const behind = nodes.filter(
        ({ id, x, y, w, h }) =>
          id !== source.id &&
          id !== target.id &&
          points.some((point) => Math.abs(point.x - x) < w / 2 && Math.abs(point.y - y) < h / 2),
      );
      return behind.map(({ id }) => `${source.id} > ${target.id} behind ${id}`);
    });
  });
}

async function showTabOf(editor: Editor, nodes: readonly FlowNode[]): Promise<void> {
  await editor.showTab(nodes.find(({ type }) => type === 'tab')?.id ?? '');
  await editor.node(nodes.find(({ x }) => x !== undefined)?.id ?? '').waitFor();
}

/** Where the nodes that are shown are in the window, each with its status and button. */
async function boxesOf(editor: Editor): Promise<Box[]> {
  return await editor.page.locator('.red-ui-flow-node-group').evaluateAll((groups) => {
    const chart = document.querySelector('#red-ui-workspace-chart');
    return groups.map((group) => {
      const { left, top, right, bottom } = group.getBoundingClientRect();
      const corners = [
        [left + 1, top + 1],
        [right - 1, top + 1],
        [left + 1, bottom - 1],
        [right - 1, bottom - 1],
      ] as const;
      return {
        id: group.id,
        ...{ left, top, right, bottom },
        seen: corners.every(([x, y]) => chart?.contains(document.elementFromPoint(x, y)) === true),
      };
    });
  });
}
