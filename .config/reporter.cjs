// Mocha's own report. If MOCHA_RESULTS names a file, it gets a line for each test: passed or failed, the file of the test and
// its full title, separated by tabs.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters } = require('mocha');

module.exports = class Listing extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.MOCHA_RESULTS;
    if (!file) return;
    const lines = [];
    const add = (outcome, test) => {
      const title = test.fullTitle().replace(/\s+/g, ' ');
      lines.push(`${outcome}\t${test.file ? relative('.', test.file) : '-'}\t${title}\n`);
    };
    runner.on('pass', (test) => add('passed', test));
    runner.on('fail', (test) => add('failed', test));
    // In continuous integration everything is installed, so nothing has a reason to be skipped.
    if (process.env.CI === 'true') runner.on('pending', (test) => add('failed', test));
    runner.once('end', () => appendFileSync(file, lines.join('')));
  }
};
