// Mocha lets a test pass whose promise is rejected with nobody to handle it. Node-RED would end, so the test has to fail.
process.on('unhandledRejection', (reason) => {
  throw reason;
});
