import type { Report } from './report';

/** What the program in `micro.ts` sends; all times in microseconds. */
export interface Micro {
  decoded: { name: string; strips: number; parse: number; decode: number }[];
  /** The same for growing lists. */
  growth: Micro['decoded'];
  reading: { strips: number; us: number }[];
  waiting: { commands: number; us: number }[];
  listening: { listeners: number; us: number }[];
}

/** Ten times as many must not cost much more each. Quadratic cost would be 10; large lists no longer fit into the processor's caches. */
const LINEAR = 3;

export function reportMicro(report: Report, measured: unknown): void {
  const { decoded, growth, reading, waiting, listening } = measured as Micro;
  report.table(
    'Decoding a list',
    ['answer', 'strips', 'JSON.parse us', 'decode us', 'decode x parse'],
    [...decoded, ...growth].map(({ name, strips, parse, decode }) => [
      name,
      strips,
      parse,
      decode,
      decode / parse,
    ]),
  );
  for (const { name, strips, parse, decode } of decoded) {
    report.target({
      what: `decoding ${strips} strips, ${name}, x JSON.parse`,
      value: decode / parse,
      atMost: 3,
    });
  }
  report.table(
    'Growth: reading a list in which one outlet has changed',
    ['strips', 'us', 'us per strip'],
    reading.map(({ strips, us }) => [strips, us, us / strips]),
  );
  report.table(
    'Growth: commands that wait for one outlet',
    ['commands', 'us per command'],
    waiting.map(({ commands, us }) => [commands, us]),
  );
  report.table(
    'Growth: a switch that all subscribers are told of',
    ['subscribers', 'us'],
    listening.map(({ listeners, us }) => [listeners, us]),
  );
  const lastStep = (each: readonly number[]): number => (each.at(-1) ?? NaN) / (each.at(-2) ?? NaN);
  const steps = {
    'decoding, per strip': growth.map(({ strips, decode }) => decode / strips),
    'reading a list, per strip': reading.map(({ strips, us }) => us / strips),
    'waiting commands, per command': waiting.map(({ us }) => us),
    'subscribers, per subscriber': listening.map(({ listeners, us }) => us / listeners),
  };
  for (const [what, each] of Object.entries(steps)) {
    report.target({ what: `growth by ten: ${what}`, value: lastStep(each), atMost: LINEAR });
  }
}
