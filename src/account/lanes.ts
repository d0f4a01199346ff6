import { PORTS } from '../api/types';
import type { Job } from './job';

/** Where a job stands in one lane. */
export interface Place {
  readonly job: Job;
  readonly lane: Lane;
  before: Place | null;
  behind: Place | null;
}

/**
 * Lanes of so many strips are kept when they are empty: a map whose entries come and go with each command keeps what they held alive until a
 * full garbage collection.
 */
const MOST_IDLE = 1_000;

/** The commands to one outlet, in the order they came. */
export interface Lane {
  first: Place | null;
  last: Place | null;
}

interface StripLanes {
  /** By port, from 1. */
  readonly lanes: readonly Lane[];
  /** Jobs that stand in any of them. */
  jobs: number;
}

/**
 * Brings the commands of an account into order: one lane per outlet, and a command starts when nothing is in front of it any more. An
 * "all" stands in all four lanes of its strip, so it waits for the outlets and they for it. Each step costs the same however many wait.
 */
export class Lanes {
  readonly #strips = new Map<string, StripLanes>();
  readonly #start: (job: Job) => void;
  #closed = false;

  /** `start` is called once for each job, when it is its turn. */
  constructor(start: (job: Job) => void) {
    this.#start = start;
  }

  /**
   * Puts a job at the end of its lanes. Returns what it replaces there: during an outage (the first in a lane is being retried) that one
   * and those waiting behind it, as far as the newer command makes up for them. Whoever calls ends them.
   */
  enter(job: Job): Iterable<Job> {
    const { port } = job.command;
    let strip = this.#strips.get(job.key);
    if (strip === undefined) {
      strip = { lanes: PORTS.map(() => ({ first: null, last: null })), jobs: 0 };
      this.#strips.set(job.key, strip);
    }
    strip.jobs++;
    let replaced: Set<Job> | null = null;
    const lanes = port === 'all' ? strip.lanes : strip.lanes.slice(port - 1, port);
    for (const lane of lanes) {
      if (lane.first !== null && lane.first.job.retrying > 0) replaceIn(lane, job, (replaced ??= new Set()));
    }
    job.places = lanes.map((lane) => stand(job, lane));
    if (job.blocked === 0) this.#begin(job);
    return replaced ?? NOBODY;
  }

  /** Takes a job out, wherever it stands, and starts those whose turn it is now. */
  leave(job: Job): void {
    const { places } = job;
    if (places.length === 0) return;
    job.places = [];
    const next: Job[] = [];
    for (const place of places) {
      const { lane, before, behind } = place;
      // What has left holds on to nobody, or a long queue would live until its last member is gone.
      place.before = place.behind = null;
      if (behind === null) lane.last = before;
      else behind.before = before;
      if (before !== null) before.behind = behind;
      else {
        lane.first = behind;
        if (behind !== null && --behind.job.blocked === 0) next.push(behind.job);
      }
    }
    const strip = this.#strips.get(job.key);
    if (strip !== undefined && --strip.jobs === 0 && this.#strips.size > MOST_IDLE)
      this.#strips.delete(job.key);
    for (const other of next) this.#begin(other);
  }

  /** Every job in the lanes, started or not. */
  jobs(): Set<Job> {
    const all = new Set<Job>();
    for (const { lanes } of this.#strips.values()) {
      for (const lane of lanes) {
        for (let place = lane.first; place !== null; place = place.behind) all.add(place.job);
      }
    }
    return all;
  }

  /** Nothing is started any more. */
  close(): void {
    this.#closed = true;
  }

  #begin(job: Job): void {
    if (this.#closed || job.started) return;
    job.started = true;
    this.#start(job);
  }
}

const NOBODY: Iterable<Job> = [];

/** Puts a job at the end of a lane. */
function stand(job: Job, lane: Lane): Place {
  const place: Place = { job, lane, before: lane.last, behind: null };
  if (lane.last === null) lane.first = place;
  else {
    lane.last.behind = place;
    job.blocked++;
  }
  lane.last = place;
  return place;
}

/** Waiting ones are named first, so that none of them gets its turn when the first one goes. */
function replaceIn(lane: Lane, newer: Job, replaced: Set<Job>): void {
  const isAll = newer.command.port === 'all';
  for (let place = lane.last; place !== null; place = place.before) {
    const { job } = place;
    if (job.command.port === 'all' && !isAll) continue;
    // Once an off may have been sent, its on is owed.
    if (job.owing) continue;
    replaced.add(job);
  }
}
