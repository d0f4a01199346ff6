// Node-RED with the nodes, a simulated service, the examples as its flows and a dashboard: what `npm start` runs.
// It keeps its flows, and all else it writes, in .demo/; delete that folder to start afresh.
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import RED from 'node-red';

const HOST = '127.0.0.1';
const root = fileURLToPath(new URL('..', import.meta.url));
const userDir = `${root}.demo`;
const flowsFile = `${userDir}/flows.json`;
const SECRET = 'demo'; // what is kept with it opens nothing but the simulator

const say = (line) => process.stdout.write(`${line}\n`);
const fail = (line) => {
  process.stderr.write(`${line}\n`);
  process.exit(1);
};

const wanted = process.env.PORT ?? '1880';
const port = Number(wanted);
if (!/^\d+$/.test(wanted) || port < 1 || port > 65535)
  fail(`PORT=${wanted} is not a port: choose 1 to 65535.`);

// Before Node-RED, so that a port that is taken costs nothing but one line.
const server = createServer((request, response) => {
  RED.httpAdmin(request, response, () => RED.httpNode(request, response));
});
server.once('error', (error) => {
  if (error.code !== 'EADDRINUSE') fail(`Port ${port} cannot be opened: ${error.message}`);
  fail(`Port ${port} is taken. Choose another one: PORT=${port === 65535 ? 1880 : port + 1} npm start`);
});
server.listen(port, HOST, () => start().catch((error) => fail(error.stack)));

async function start() {
  mkdirSync(userDir, { recursive: true });
  if (!existsSync(flowsFile)) writeExamples();
  followPort();
  RED.init(server, {
    userDir,
    flowFile: 'flows.json',
    flowFilePretty: true,
    credentialSecret: SECRET,
    nodesDir: [root],
    uiHost: HOST,
    uiPort: port,
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    functionGlobalContext: {},
    logging: { console: { level: 'warn', metrics: false, audit: false } },
    telemetry: { enabled: false, updateNotification: false },
    editorTheme: { tours: false, projects: {}, multiplayer: { enabled: false } },
    externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
  });
  const stop = () => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop).on(signal, () => undefined);
    RED.stop().then(
      () => process.exit(0),
      (error) => fail(error.stack),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  // Starting Node-RED does not wait for its flows, and there is no dashboard before them.
  const started = new Promise((resolve) => RED.events.once('flows:started', resolve));
  await RED.start();
  await checkNodes();
  await started;
  say(`
  Editor      http://${HOST}:${port}/
  Dashboard   http://${HOST}:${port}/dashboard/strips

  Ctrl-C stops it. Your changes stay in .demo/; delete that folder to start afresh.
`);
}

/** Flows whose nodes are not there never start. */
async function checkNodes() {
  const { name } = readJson(`${root}package.json`);
  const ours = (await RED.runtime.nodes.getNodeList({})).filter(({ module }) => module === name);
  if (ours.length === 0 || ours.some(({ err }) => err))
    fail('The nodes could not be loaded: run npm run build.');
}

/** The examples side by side, what they share once, as Node-RED itself would have saved them. */
function writeExamples() {
  const nodes = new Map();
  for (const file of readdirSync(`${root}examples`).filter((name) => name.endsWith('.json'))) {
    for (const node of readJson(`${root}examples/${file}`)) nodes.set(node.id, node);
  }
  const credentials = {};
  const flows = [...nodes.values()].map(({ credentials: own, ...node }) => {
    if (own !== undefined) credentials[node.id] = own;
    return node;
  });
  writeJson(`${userDir}/flows_cred.json`, encrypted(credentials));
  writeJson(flowsFile, flows);
}

/** As Node-RED keeps credentials: the initialisation vector in hexadecimal, then the text in base64. */
function encrypted(credentials) {
  const vector = randomBytes(16);
  const cipher = createCipheriv('aes-256-ctr', createHash('sha256').update(SECRET).digest(), vector);
  const text = cipher.update(JSON.stringify(credentials), 'utf8', 'base64') + cipher.final('base64');
  return { $: vector.toString('hex') + text };
}

/** Lets the account find the simulator on the port of this run. */
function followPort() {
  const simulator = /^http:\/\/127\.0\.0\.1:\d+(?=\/strip-simulator$)/;
  const flows = readJson(flowsFile);
  for (const node of flows.filter(({ type }) => type === 'strip-account')) {
    node.baseUrl = String(node.baseUrl).replace(simulator, `http://${HOST}:${port}`);
  }
  writeJson(flowsFile, flows);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 4)}\n`);
}
