/** Notes a problem unless the condition holds. */
type Check = (holds: boolean, problem: string) => void;

/**
 * What Home Assistant would refuse or ignore in a device discovery message, by the rules of its documentation and of the schemas
 * of its mqtt integration (2024.11 and later). An independent reading: it shares nothing with the code that makes the messages.
 */
export function discoveryProblems(topic: string, payload: string): string[] {
  const problems: string[] = [];
  const check: Check = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  check(/^[^#+\0]+\/device\/[A-Za-z0-9_-]+\/config$/.test(topic), `topic ${topic}`);
  let root: unknown;
  try {
    root = JSON.parse(payload);
  } catch {
    return [...problems, 'payload is not JSON'];
  }
  if (!isRecord(root)) return [...problems, 'payload is no object'];
  checkKeys(root, ROOT, 'root', check);
  const { device, origin, components, availability, availability_mode: mode } = root;

  if (!isRecord(device)) check(false, 'device is missing');
  else {
    checkKeys(device, ['identifiers', 'name', 'serial_number'], 'device', check);
    const { identifiers } = device;
    check(
      Array.isArray(identifiers) && identifiers.length > 0 && identifiers.every(isText),
      'device.identifiers is no list of texts',
    );
    check(isText(device.name), 'device.name is missing');
  }
  check(isRecord(origin) && isText(origin.name), 'origin.name is missing');
  if (isRecord(origin)) checkKeys(origin, ['name', 'sw_version', 'support_url'], 'origin', check);
  check(
    Array.isArray(availability) &&
      availability.every((each) => isRecord(each) && isTopic(each.topic) && Object.keys(each).length === 1),
    'availability is no list of topics',
  );
  check(mode === 'all', 'availability_mode is not all');

  if (!isRecord(components) || Object.keys(components).length === 0) return [...problems, 'no components'];
  const ids = new Set<unknown>();
  for (const [id, component] of Object.entries(components)) {
    check(/^[A-Za-z0-9_-]+$/.test(id), `component id ${id}`);
    if (!isRecord(component)) check(false, `${id} is no object`);
    // The platform alone removes the component.
    else if (Object.keys(component).length > 1) {
      checkComponent(component, (holds, problem) => check(holds, `${id}: ${problem}`));
      check(!ids.has(component.unique_id), `${id}: unique_id is used twice`);
      ids.add(component.unique_id);
    }
  }
  return problems;
}

const ROOT = ['device', 'origin', 'availability', 'availability_mode', 'components'];
const ENTITY = ['platform', 'unique_id', 'name', 'state_topic', 'device_class'];

/** Units that belong to a device class in each version since 2024.11, as far as strips have such readings. */
const UNITS: Record<string, string[]> = {
  power: ['W', 'kW'],
  voltage: ['mV', 'V'],
  signal_strength: ['dB', 'dBm'],
};

function checkComponent(component: Record<string, unknown>, check: Check): void {
  check(isText(component.unique_id), 'unique_id is missing');
  check(isText(component.name), 'name is missing');
  check(isTopic(component.state_topic), 'state_topic is no topic');
  const { device_class: deviceClass, unit_of_measurement: unit } = component;
  if (component.platform === 'switch') {
    checkKeys(component, [...ENTITY, 'command_topic'], 'switch', check);
    check(isTopic(component.command_topic), 'command_topic is no topic');
    check(deviceClass === 'outlet', 'device_class is not outlet');
  } else if (component.platform === 'sensor') {
    checkKeys(component, [...ENTITY, 'state_class', 'unit_of_measurement'], 'sensor', check);
    check(component.state_class === 'measurement', 'state_class is not measurement');
    check((deviceClass === undefined) === (unit === undefined), 'device_class without unit, or unit without');
    if (typeof deviceClass === 'string') {
      check(UNITS[deviceClass]?.includes(String(unit)) === true, `unit ${String(unit)} for ${deviceClass}`);
    }
  } else check(false, `platform ${String(component.platform)}`);
}

function checkKeys(object: object, known: string[], where: string, check: Check): void {
  for (const key of Object.keys(object)) check(known.includes(key), `unknown key ${key} in ${where}`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && !/\p{Cs}/u.test(value);

/** A topic that something can be published on. */
export const isTopic = (value: unknown): boolean =>
  typeof value === 'string' &&
  Buffer.byteLength(value) < 65_536 &&
  value.split('/').every((level) => level !== '') &&
  !/[#+\0]|\p{Cs}/u.test(value);

/** Names that could leave a topic level, end a text, or hit a prototype. */
export const HOSTILE = [
  ...['#', '+', '/', '$SYS', 'a/b', '../..', ' ', '\0', 'a\0b', '\n', '"', '\\', '{}', '~', '%2F'],
  ...['__proto__', 'constructor', 'toString', 'ß', 'İ', 'ﬀ', '電源', '💡', '\ud800', 'x'.repeat(5000)],
  ...['/'.repeat(5000), 'bridge', 'set', 'available', 'homeassistant'],
];
