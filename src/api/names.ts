/**
 * The names a service may use for what its document describes without naming (API document, section 2: "field names …
 * not shown"). Every list is in order of preference. Case, `_`, `-`, spaces and dots in a name do not count.
 */
const NAMES = {
  /** Identifies a strip, whatever the value looks like. */
  mac: ['mac', 'macaddress', 'macaddr', 'stripmac', 'devicemac'],
  /** Identifies a strip only where the value looks like a MAC; a record's running number must not. */
  id: ['stripid', 'deviceid', 'id', 'address'],
  name: ['name', 'label', 'title', 'alias', 'displayname', 'friendlyname', 'stripname', 'devicename'],
  /** Clear booleans by which a strip says itself whether it can be reached. */
  available: [
    'available',
    'online',
    'connected',
    'reachable',
    'isavailable',
    'isonline',
    'isconnected',
    'isreachable',
  ],
  /** The same the other way round. */
  offline: ['offline', 'isoffline', 'unreachable', 'disconnected'],
  load: ['load', 'loadw', 'loadwatts', 'currentload', 'totalload', 'watts'],
  voltage: ['voltage', 'volts', 'voltagev', 'linevoltage'],
  signal: ['signal', 'rssi', 'signalstrength', 'wifisignal', 'wifirssi', 'signaldbm', 'signallevel'],
  loadunit: ['loadunit', 'loadunits'],
  voltageunit: ['voltageunit', 'voltageunits'],
  signalunit: ['signalunit', 'signalunits'],
  outlets: [
    'outlets',
    'ports',
    'sockets',
    'switches',
    'channels',
    'relays',
    'outletstates',
    'portstates',
    'relaystates',
  ],
  /** Records in which a strip's own fields may stand one level deeper; also what one strip may be wrapped up in. */
  part: [
    'strip',
    'data',
    'result',
    'device',
    'item',
    'record',
    'response',
    'details',
    'attributes',
    'properties',
    'readings',
    'measurements',
    'metrics',
    'telemetry',
    'sensors',
    'state',
    'status',
    'connection',
    'info',
  ],
  /** May say by a word that a strip cannot be reached. */
  connection: ['connection', 'status', 'state'],
  /** The number of an outlet, in a record of its own. */
  port: ['port', 'number', 'outlet', 'portnumber', 'outletnumber', 'channel', 'socket'],
  /** Number an outlet only where all of a set are exactly 1-4 or 0-3: they may just as well number database rows. */
  position: ['id', 'index'],
  on: ['on', 'ison', 'state', 'status', 'switch', 'relay', 'onoff', 'switchstate', 'relaystate'],
  /** Say on/off only as a boolean or as a word: a bare `power: 0` may be watts. "enabled" and "online" say nothing of it. */
  word: ['power', 'value', 'powerstate', 'output'],
  list: ['strips', 'data', 'items', 'results', 'devices', 'result', 'list', 'records', 'content', 'response'],
  /** Names of a list that say what it holds. */
  holds: ['strips', 'devices'],
  /** What a wrapper says of an answer as a whole. */
  success: ['success', 'ok'],
  error: ['error', 'errors'],
  /** How many there are in all, which may be more than came. */
  total: ['total', 'totalcount', 'totalitems', 'count'],
  /** Set where another page follows. */
  more: ['next', 'nextpage', 'nextcursor', 'nexttoken', 'nextpagetoken', 'hasmore', 'hasnext', 'hasnextpage'],
  /** Where a wrapper may keep `total` and `more`. */
  paging: ['meta', 'pagination', 'paging', 'page', 'links', 'pageinfo'],
  reading: ['value', 'val', 'reading'],
  unit: ['unit', 'units', 'uom', 'unitofmeasurement'],
} as const satisfies Record<string, readonly string[]>;

type Meaning = keyof typeof NAMES;

/** How much a name is preferred for a meaning: 0 = most, -1 = it does not have that meaning. */
type Ranks = Record<Meaning, number>;

/** What a key means in each kind of record. Numbers rather than sets: one is looked up for every key of every answer. */
export interface Role extends Ranks {
  /** The outlet that a key such as "port1", "outlet_2" or "3" names, as the service counts; -1: none. */
  readonly numbered: number;
  /** The same, but only with a word in it, so that it may stand among a strip's own fields. */
  readonly flat: number;
}

const NUMBERED =
  /^(port|outlet|socket|switch|channel|relay)?([0-9]{1,2})(on|ison|state|status|onoff|relay)?$/;

const LONGEST_NAME = 32;
const MOST_ROLES = 2_000;
const MOST_PLACES = 64;
const roles = new Map<string, Role>();
const NO_ROLE = roleOfName('');

/** Meaning of a key; worked out once per spelling. */
export function roleOf(key: string): Role {
  const known = roles.get(key);
  if (known !== undefined) return known;
  if (key.length > LONGEST_NAME) return NO_ROLE;
  const role = roleOfName(key.toLowerCase().replace(/[\s._-]/g, ''));
  if (roles.size >= MOST_ROLES) roles.clear();
  roles.set(key, role);
  return role;
}

/**
 * Meanings of the keys of records that follow one another and mostly have the same keys in the same order, as those of a list do: a
 * look at the key that stood in the same place last time is much cheaper than looking it up among all.
 */
export class Roles {
  private readonly keys: string[] = [];
  private readonly roles: Role[] = [];

  /** `place` of the key in its record, from 0. */
  at(place: number, key: string): Role {
    const last = this.roles[place];
    if (last !== undefined && this.keys[place] === key) return last;
    const role = roleOf(key);
    if (place < MOST_PLACES) {
      this.keys[place] = key;
      this.roles[place] = role;
    }
    return role;
  }
}

function roleOfName(name: string): Role {
  const rank = (meaning: Meaning): number => (NAMES[meaning] as readonly string[]).indexOf(name);
  const [, word, digits, state] = NUMBERED.exec(name) ?? [];
  const number = digits === undefined || (word === undefined && state !== undefined) ? -1 : Number(digits);
  return {
    mac: rank('mac'),
    id: rank('id'),
    name: rank('name'),
    available: rank('available'),
    offline: rank('offline'),
    load: rank('load'),
    voltage: rank('voltage'),
    signal: rank('signal'),
    loadunit: rank('loadunit'),
    voltageunit: rank('voltageunit'),
    signalunit: rank('signalunit'),
    outlets: rank('outlets'),
    part: rank('part'),
    connection: rank('connection'),
    port: rank('port'),
    position: rank('position'),
    on: rank('on'),
    word: rank('word'),
    list: rank('list'),
    holds: rank('holds'),
    success: rank('success'),
    error: rank('error'),
    total: rank('total'),
    more: rank('more'),
    paging: rank('paging'),
    reading: rank('reading'),
    unit: rank('unit'),
    numbered: number,
    flat: word === undefined ? -1 : number,
  };
}
