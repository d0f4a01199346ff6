// A rejected promise that nobody handles ends Node-RED, but mocha lets the test pass. This makes the test fail.
const fail = (reason) => {
  throw reason;
};

// In a hook, because mocha removes all listeners after each test file of a process.
exports.mochaHooks = {
  beforeAll() {
    process.on('unhandledRejection', fail);
  },
};
