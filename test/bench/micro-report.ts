import type { Decoded, Micro } from './micro';
import type { Report } from './report';

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
  report.table('Growth with strips: decoding', head, growth.map(row));
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
    waiting.map(({ commands, each, heap }) => [commands, each, Math.round(heap)]),
  );
  report.table(
    'Growth with listeners: a switch that all are told of',
    ['listeners', 'us per switch', 'us per listener'],
    listening.map(({ listeners, each }) => [listeners, each, each / listeners]),
  );
}
