// `npm start`: Node-RED with the nodes, the examples as its flows, a dashboard and an MQTT broker. The environment variable PORT
// sets the port of Node-RED (if unset, the first free one from 1880), MQTT_PORT that of the broker (any free one if unset). All files are written to
// .demo/; delete that folder to start again with the examples.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Aedes } from 'aedes';
import RED from 'node-red';

const HOST = '127.0.0.1';
const root = fileURLToPath(new URL('..', import.meta.url));
const userDir = `${root}.demo`;
const flowsFile = `${userDir}/flows.json`;

const SECRET = 'demo';
// The file of an empty set of credentials, encrypted with this secret: Node-RED warns if there is no such file.
const NO_CREDENTIALS = { $: '01010101010101010101010101010101d00=' };

const say = (line) => process.stdout.write(`${line}\n`);
const fail = (line) => {
  process.stderr.write(`${line}\n`);
  process.exit(1);
};

const [asked, askedMqtt] = ['PORT', 'MQTT_PORT'].map((name) => {
  const text = process.env[name];
  if (text === undefined) return undefined;
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) fail(`${name}=${text} is not a port: choose 1 to 65535.`);
  return port;
});
let port = asked ?? 1880;

// Opened before Node-RED starts: if the port that was asked for is taken, nothing but one line is printed.
const server = createServer((request, response) => {
  RED.httpAdmin(request, response, () => RED.httpNode(request, response));
});
server.on('error', (error) => {
  if (error.code !== 'EADDRINUSE') fail(`Port ${port} cannot be opened: ${error.message}`);
  if (asked !== undefined) fail(`Port ${port} is taken: set the environment variable PORT to another one.`);
  server.listen(++port, HOST);
});
server.once('listening', () => start().catch((error) => fail(error.stack)));
server.listen(port, HOST);

async function start() {
  mkdirSync(userDir, { recursive: true });
  if (!existsSync(flowsFile)) writeExamples();
  const mqttPort = await startBroker();
  // The examples' broker nodes read this variable, because the port may differ at each start.
  process.env.MQTT_PORT = String(mqttPort);
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
  // `RED.start` does not wait for the flows, and the dashboard exists only when they have started.
  const started = new Promise((resolve) => RED.events.once('flows:started', resolve));
  await RED.start();
  await checkNodes();
  await started;
  say(`
  Editor      http://${HOST}:${port}/
  Dashboard   http://${HOST}:${port}/dashboard/strips
              http://${HOST}:${port}/dashboard/all-strips
  MQTT        mqtt://${HOST}:${mqttPort}

  Ctrl-C stops it. Your changes stay in .demo/; delete that folder to start again with the examples.
`);
}

/** Ends the demo if the package's nodes were not loaded: flows that use them would never start. */
async function checkNodes() {
  const { name } = readJson(`${root}package.json`);
  const ours = (await RED.runtime.nodes.getNodeList({})).filter(({ module }) => module === name);
  if (ours.length === 0 || ours.some(({ err }) => err))
    fail('The nodes could not be loaded: run npm run build.');
}

/** Starts an MQTT broker that keeps everything in memory. Returns its port. */
async function startBroker() {
  const broker = await Aedes.createBroker();
  const mqtt = createTcpServer(broker.handle);
  mqtt.once('error', (error) => fail(`The MQTT broker cannot be started: ${error.message}`));
  await new Promise((resolve) => mqtt.listen(askedMqtt ?? 0, HOST, resolve));
  return mqtt.address().port;
}

/**
 * Writes the examples as flows. All use this broker, and the same dashboard, because Node-RED can have only one. What they say about
 * packages to install is left out: these are installed.
 */
function writeExamples() {
  const nodes = readdirSync(`${root}examples`)
    .filter((name) => name.endsWith('.json'))
    .flatMap((file) => readJson(`${root}examples/${file}`));
  const [dashboard, ...others] = nodes.filter(({ type }) => type === 'ui-base').map(({ id }) => id);
  const flows = nodes
    .filter(({ id, type }) => !others.includes(id) && type !== 'global-config')
    .map((node) => (others.includes(node.ui) ? { ...node, ui: dashboard } : node))
    .map((node) => (node.type === 'mqtt-broker' ? { ...node, broker: HOST, port: '${MQTT_PORT}' } : node));
  writeJson(`${userDir}/flows_cred.json`, NO_CREDENTIALS);
  writeJson(flowsFile, flows);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 4)}\n`);
}
