// Mocha passes a test that leaves a rejected promise unhandled. Node-RED would end, so the test has to fail.
const fail = (reason) => {
  throw reason;
};

// A hook, because a process that runs several test files removes all listeners after each.
exports.mochaHooks = {
  beforeAll() {
    process.on('unhandledRejection', fail);
  },
};
