// Mocha's own report. Where MOCHA_RESULTS names a file, a line is added to it for each test: passed or failed, the test's
// file, its full title, with tabs between them.
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
    runner.once('end', () => appendFileSync(file, lines.join('')));
  }
};
