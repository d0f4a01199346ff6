// `npm run mutate`, for the area that the environment variable AREA names: see docs/mutation.md.

const AREAS = {
  account: {
    // The tests of the account are those of limits.ts, too.
    mutate: ['src/account/**/*.ts', '!src/account/types.ts', 'src/api/limits.ts'],
    spec: ['test/unit/account/**/*.test.ts'],
  },
  api: {
    mutate: ['src/api/*.ts', '!src/api/decode.ts', '!src/api/limits.ts'],
    // Some effects of the client show only in tests of the account, such as whether an error is retried.
    spec: [
      'test/unit/api/*.test.ts',
      'test/unit/account/diagnostics.test.ts',
      'test/unit/account/failures.test.ts',
    ],
  },
  decode: {
    mutate: ['src/api/decode.ts', 'src/api/decode/**/*.ts'],
    // Without the property tests: their result differs from run to run, and a surviving mutant takes five times as long with them.
    spec: ['test/unit/api/decode/cases.test.ts', 'test/unit/api/decode/explain.test.ts'],
  },
  flow: {
    // The editor uses admin-answers.ts, and only its tests reach it.
    mutate: ['src/flow/**/*.ts', '!src/flow/admin-answers.ts'],
    spec: ['test/unit/flow/**/*.test.ts', 'test/nodes/**/*.test.ts'],
  },
  mqtt: {
    mutate: ['src/mqtt/**/*.ts'],
    spec: ['test/unit/mqtt/**/*.test.ts'],
  },
  simulator: {
    mutate: ['src/simulator/**/*.ts'],
    spec: ['test/unit/simulator/**/*.test.ts'],
  },
};

const name = process.env.AREA ?? 'account';
const area = AREAS[name];
if (area === undefined) throw new Error(`AREA=${name}: choose ${Object.keys(AREAS).join(', ')}`);

export default {
  mutate: area.mutate,
  testRunner: 'mocha',
  mochaOptions: {
    config: '.config/stryker-mocha.json',
    spec: area.spec,
  },
  coverageAnalysis: 'perTest',
  // Ends a mutant that runs forever.
  timeoutMS: 20_000,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: `.artefacts/mutation-${name}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
  tempDirName: '.artefacts/stryker',
  ignorePatterns: ['/.artefacts', '/dist', '/resources', '/examples', '/icons'],
};
