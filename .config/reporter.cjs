// Mocha's own report; where MOCHA_COUNTS names a file, a line with the counts is added to it for whoever sums up runs.
const { appendFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Counting extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes = 0, failures = 0, pending = 0 } = this.stats;
      const file = process.env.MOCHA_COUNTS;
      if (file) appendFileSync(file, `${passes} ${failures} ${pending}\n`);
    });
  }
};
