import { createHash } from 'node:crypto';
import { StripError } from '../api/errors';
import { macKey, PORTS, READINGS, type Port, type PortOrAll, type ReadingName } from '../api/types';
import { requirePort } from '../flow/input-fields';
import { preview } from '../values';

/** The topics under which a `strip mqtt` node publishes and listens. They have no slash at the end. */
export interface TopicSettings {
  /** First level (or levels) of the strips' own topics. */
  topic: string;
  /** Prefix of Home Assistant's discovery topics; "" = no discovery. */
  discovery: string;
}

/** What a message from the broker is about, judged by its topic. */
type Incoming =
  | { kind: 'command'; id: string; port: PortOrAll }
  /** A birth or will message: of this Node-RED's own broker connection, or of Home Assistant. */
  | { kind: 'birth' }
  /** What the broker keeps of a strip's availability, or what this node has just published. */
  | { kind: 'availability'; id: string }
  /** Nothing is to be done: usually something that this node has published itself. */
  | { kind: 'own' };

const LONGEST_ID = 64;

/**
 * A strip's name in topics and in Home Assistant's ids: its MAC without separators in upper case. The API document does not promise
 * that an identifier is a MAC, so any other character than `A-Z 0-9 -` becomes its code between two `_`, and a very long identifier ends in a hash: two
 * strips never get the same name, and none leaves its topic level.
 */
export function stripId(mac: string): string {
  const id = Array.from(macKey(mac), (character) =>
    /^[a-z0-9-]$/.test(character) ? character : `_${(character.codePointAt(0) ?? 0).toString(16)}_`,
  )
    .join('')
    .toUpperCase();
  if (id.length <= LONGEST_ID) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16).toUpperCase();
  return `${id.slice(0, LONGEST_ID - hash.length - 1)}_${hash}`;
}

/** Topic of an outlet's state, of a reading, or of a strip's availability. */
export const stateTopic = (
  { topic }: TopicSettings,
  id: string,
  what: Port | ReadingName | 'available',
): string => `${topic}/${id}/${what}`;

export const commandTopic = ({ topic }: TopicSettings, id: string, port: Port): string =>
  `${topic}/${id}/${port}/set`;

/** The topic of the broker connection's `online` and `offline`, which count for everything that this node publishes. */
export const bridgeTopic = ({ topic }: TopicSettings): string => `${topic}/bridge`;

/** The topic of the discovery message, from which Home Assistant learns what a strip consists of. */
export const discoveryTopic = ({ discovery }: TopicSettings, id: string): string =>
  `${discovery}/device/${objectId(id)}/config`;

/** A strip's id among all devices that Home Assistant knows. */
export const objectId = (id: string): string => `smart_strip_${id}`;

/** Every topic on which something may have been published for a strip. */
export const topicsOf = (settings: TopicSettings, id: string): string[] => [
  ...(settings.discovery === '' ? [] : [discoveryTopic(settings, id)]),
  ...[...PORTS, 'available' as const, ...READINGS].map((what) => stateTopic(settings, id, what)),
];

/** What an incoming topic means. Throws INVALID_INPUT for an outlet that does not exist, and for any other topic. */
export function readTopic(settings: TopicSettings, topic: unknown): Incoming {
  const { topic: prefix, discovery } = settings;
  if (typeof topic === 'string') {
    // If only the discovery prefix is changed in Home Assistant, its birth message keeps its topic. It may also come if discovery is off here.
    const births = [bridgeTopic(settings), 'homeassistant/status'];
    if (births.includes(topic) || (discovery !== '' && topic === `${discovery}/status`))
      return { kind: 'birth' };
    if (topic.startsWith(`${prefix}/`)) {
      const [id = '', what = '', set, ...rest] = topic.slice(prefix.length + 1).split('/');
      // With any other id, it is from another program that publishes below the same topic.
      if (topic === stateTopic(settings, id, 'available') && /^[A-Z0-9_-]+$/.test(id))
        return { kind: 'availability', id };
      if (topicsOf(settings, id).includes(topic)) return { kind: 'own' };
      if (set === 'set' && rest.length === 0) return { kind: 'command', id, port: requirePort(what) };
    }
    if (topic.startsWith(`${discovery}/device/${objectId('')}`)) return { kind: 'own' };
  }
  throw new StripError('INVALID_INPUT.topic', { topic: preview(topic), prefix });
}
