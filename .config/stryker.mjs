// `npm run mutate`: changes an area of the code in small ways and says which changes its tests do not notice. Takes minutes, so it is not part of the
// checks. `AREA` names the area; docs/mutation.md names what survives, and why.
const AREAS = {
  account: {
    mutate: ['src/account/**/*.ts', '!src/account/types.ts'],
    spec: ['test/unit/account/**/*.test.ts'],
  },
  api: {
    mutate: ['src/api/*.ts', '!src/api/decode.ts', '!src/api/types.ts'],
    // Whether an error is retried, for example, shows only in a test of the account.
    spec: ['test/unit/api/*.test.ts', 'test/unit/account/failures.test.ts'],
  },
  decode: {
    mutate: ['src/api/decode.ts', 'src/api/decode/**/*.ts'],
    // Without the property tests: what they find differs from run to run, and each mutant that survives would take them five times as long.
    spec: ['test/unit/api/decode/cases.test.ts', 'test/unit/api/decode/explain.test.ts'],
  },
  flow: {
    mutate: ['src/flow/**/*.ts'],
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
    // Reads source text, so it would notice every change.
    ignore: ['test/unit/api/sentences.test.ts'],
  },
  coverageAnalysis: 'perTest',
  // A mutant that never ends is found by this.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: `.artefacts/mutation-${name}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
  tempDirName: '.artefacts/stryker',
  ignorePatterns: ['/.artefacts', '/dist', '/resources', '/docs', '/examples', '/icons'],
};
