import type { Decoded } from './micro';
import type { Report } from './report';

interface Micro {
  decoded: Decoded[];
  growth: Decoded[];
}

/** Shows what the program in `micro.ts` measured. */
export function reportMicro(report: Report, measured: unknown): void {
  const { decoded, growth } = measured as Micro;
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
}
