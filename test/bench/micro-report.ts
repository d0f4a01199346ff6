import type { Decoded, Micro } from './micro';
import type { Report } from './report';

/**
 * Of ten times as many each one costs what it did: 1. If the cost were quadratic, it would be 10. What lies between is memory: ten thousand
 * strips and all that is known of them do not fit into a processor's own caches.
 */
const LINEAR = 3;

/** Shows what the program in `micro.ts` measured. */
export function reportMicro(report: Report, measured: unknown): void {
  const { decoded, growth, state, waiting, listening } = measured as Micro;
  const head = ['answer', 'strips', 'kB', 'JSON.parse us', 'decode us', 'decode x parse', 'us per strip'];
  const row = ({ shape, strips, bytes, parse, decode }: Decoded) => [
    shape,
    strips,
    bytes / 1000,
    parse,
    decode,
    decode / parse,
    decode / strips,
  ];
  report.table('Decoding a list', head, decoded.map(row));
  report.targets(
    'decoding',
    decoded.map(({ shape, strips, parse, decode }) => ({
      what: `${strips} strips, "${shape}"`,
      value: decode / parse,
      unit: 'x',
      atMost: 1,
    })),
  );
  report.table(
    'Growth with strips: decoding, beside a plain copy of what JSON.parse gave',
    [...head, 'copy us per strip'],
    growth.map((figure) => [...row(figure), figure.copy / figure.strips]),
  );
  report.table(
    'Growth with strips: taking in a list in which one strip has changed',
    ['strips', 'JSON.parse us', 'update us', 'update x parse', 'us per strip'],
    state.map(({ strips, parse, update }) => [strips, parse, update, update / parse, update / strips]),
  );
  report.targets(
    'state',
    state
      .filter(({ strips }) => strips === 1_000)
      .map(({ parse, update }) => ({
        what: '1000 strips, one change',
        value: update / parse,
        unit: 'x',
        atMost: 1,
      })),
  );
  report.table(
    'Growth with commands that wait for one outlet',
    ['commands', 'us per command', 'heap per command, bytes'],
    waiting.map(({ commands, each, heap }) => [commands, each, commands < 1_000 ? '' : Math.round(heap)]),
  );
  report.table(
    'Growth with listeners: a switch that all are told of',
    ['listeners', 'us per switch', 'us per listener'],
    listening.map(({ listeners, each }) => [listeners, each, each / listeners]),
  );
  const ten = (of: readonly { each: number }[]): number =>
    (of.at(-1)?.each ?? NaN) / (of.at(-2)?.each ?? NaN);
  const eachOf = (figures: readonly Decoded[], what: 'decode' | 'copy') =>
    figures.map((figure) => ({ each: figure[what] / figure.strips }));
  report.targets(
    'the largest of each growth to a tenth of it, per strip, command and listener',
    [
      {
        what: 'decoding, to the same of the plain copy',
        value: ten(eachOf(growth, 'decode')) / ten(eachOf(growth, 'copy')),
      },
      { what: 'state', value: ten(state.map(({ strips, update }) => ({ each: update / strips }))) },
      { what: 'waiting commands', value: ten(waiting) },
      { what: 'listeners', value: ten(listening.map((l) => ({ each: l.each / l.listeners }))) },
    ].map((figure) => ({ ...figure, unit: 'x', atMost: LINEAR })),
  );
}
