import { roleOf, Roles } from './names';
import { isRecord, readIndex, readOn, readWord, type JsonRecord } from './values';

const UNSAID = 1_000;
/** Names that say on/off only as a word come after all that say it in any form. */
const WORDS = 100;
/** An outlet, and a record below it that says its state (`{"state": {"on": true}}`). */
const DEEPEST = 1;
const ROLES = new Roles();
const DEEPER_ROLES = new Roles();

/** Reads records that are each about one outlet, one after the other: what it says is of the last one. */
export class OutletReader {
  /** The number of the outlet as the service counts; -1: not said. */
  port = -1;
  /** Numbers that may just as well be of something else; -1: none. */
  id = -1;
  index = -1;
  /** It bears a number or an identifier of any kind, readable or not. */
  named = false;
  on: boolean | null = null;
  private portRank = UNSAID;
  private onRank = UNSAID;

  read(record: JsonRecord): void {
    this.port = this.id = this.index = -1;
    this.portRank = this.onRank = UNSAID;
    this.named = false;
    this.on = null;
    let place = 0;
    for (const key in record) {
      const role = ROLES.at(place++, key);
      if (role.port >= 0) this.readPort(role.port, record[key]);
      else if (role.on >= 0) this.readState(role.on, record[key], 0);
      else if (role.word >= 0) this.readState(WORDS + role.word, record[key], 0);
      else if (role.position >= 0) this.readPosition(role.position, record[key]);
    }
  }

  private readPort(rank: number, value: unknown): void {
    const number = portNumber(value);
    if (number < 0) return;
    this.named = true;
    if (rank >= this.portRank) return;
    this.portRank = rank;
    this.port = number;
  }

  private readPosition(rank: number, value: unknown): void {
    this.named = true;
    const number = readIndex(value);
    if (rank === 0) this.id = number;
    else this.index = number;
  }

  private readState(rank: number, value: unknown, depth: number): void {
    if (rank > this.onRank) return;
    if (isRecord(value)) {
      if (depth < DEEPEST) this.readDeeper(rank, value);
      return;
    }
    this.take(rank, rank >= WORDS ? readWord(value) : readOn(value));
  }

  /** A state in a record of its own: whatever name says it there, it is preferred as the record's own name is. */
  private readDeeper(rank: number, record: JsonRecord): void {
    let best = UNSAID;
    let on: boolean | null = null;
    let place = 0;
    for (const key in record) {
      const role = DEEPER_ROLES.at(place++, key);
      const inner = role.on >= 0 ? role.on : role.word >= 0 ? WORDS + role.word : UNSAID;
      const said = inner >= best ? null : role.on >= 0 ? readOn(record[key]) : readWord(record[key]);
      if (said === null) continue;
      best = inner;
      on = said;
    }
    this.take(rank, on);
  }

  /** Two spellings of the same name ("on", "ON") that contradict each other say nothing. */
  private take(rank: number, on: boolean | null): void {
    if (on === null) return;
    this.on = rank === this.onRank && on !== this.on ? null : on;
    this.onRank = rank;
  }
}

/** A port as a number, numeric text, or a text such as "port1". */
function portNumber(value: unknown): number {
  const index = readIndex(value);
  return index >= 0 || typeof value !== 'string' ? index : roleOf(value).flat;
}
