// Installs the Node-RED that the tests start, if it is not there yet. Otherwise four test files would install it at the same time,
// each within the time limit of a test, which is too short on a slow machine. If this fails, those tests say why.
import { nodeRedDir } from './node-red-install';

nodeRedDir().catch(() => undefined);
