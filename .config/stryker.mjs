// `npm run mutate`: changes src/account in small ways and says which changes no unit test notices. Takes minutes, so it is not part of the checks.
// Tests that read source text are left out: they would notice every change. docs/mutation.md names what survives, and why.
export default {
  mutate: ['src/account/**/*.ts', '!src/account/types.ts'],
  testRunner: 'mocha',
  mochaOptions: {
    config: '.config/stryker-mocha.json',
    spec: ['test/unit/account/**/*.test.ts'],
  },
  coverageAnalysis: 'perTest',
  // A mutant that loops for ever is noticed by that.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: '.artefacts/mutation.json' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
  tempDirName: '.artefacts/stryker',
  ignorePatterns: ['/.artefacts', '/dist', '/resources', '/docs', '/examples', '/icons'],
};
