import { READINGS, type Port, type ReadingName, type Strip } from '../api/types';
import { discoveryPayload, outletsOf } from './discovery';
import { discoveryTopic, stateTopic, type TopicSettings } from './topics';

export interface BridgeSettings extends TopicSettings {
  /** Publishes load, voltage and signal too. */
  readings: boolean;
}

/** What the broker keeps of one strip. */
export interface Kept {
  /** The account and address that it comes from, and the prefixes of its topics. */
  readonly source: string;
  readonly topics: readonly string[];
  /** Every outlet and reading of the strip that was ever published. */
  readonly parts: ReadonlySet<Port | ReadingName>;
}

/** Home Assistant's word for a state that is not known. */
const UNKNOWN = 'None';

const onOff = (on: boolean | null): string => (on === null ? UNKNOWN : on ? 'ON' : 'OFF');

/** What the broker should keep of a strip from now on: the payload of each topic, and the parts. `before`: what it may already keep. */
export function payloadsOf(
  settings: BridgeSettings,
  version: string,
  id: string,
  strip: Strip,
  before: Kept | undefined,
) {
  const outlets = outletsOf(strip);
  const wanted = settings.readings ? READINGS : [];
  const known = wanted.filter((name) => strip[name] !== null);
  const parts = new Set([...(before?.parts ?? []), ...outlets.map(({ port }) => port), ...known]);
  const payloads = new Map<string, string>();
  if (settings.discovery !== '') {
    const sensors = wanted.filter((name) => parts.has(name));
    const discovery = discoveryPayload(settings, id, strip, sensors, version, parts);
    payloads.set(discoveryTopic(settings, id), discovery);
  }
  for (const { port, on } of outlets) payloads.set(stateTopic(settings, id, port), onOff(on));
  for (const name of wanted) {
    const topic = stateTopic(settings, id, name);
    // Also one that is not known now, if the broker may keep a value of it: Home Assistant would go on showing that value if the topic were emptied.
    const isPublished = parts.has(name) || before?.topics.includes(topic);
    if (isPublished) payloads.set(topic, String(strip[name] ?? UNKNOWN));
  }
  payloads.set(stateTopic(settings, id, 'available'), strip.available ? 'online' : 'offline');
  return { payloads, parts };
}
