import { Account } from '../../../src/account/account';
import type { AccountSettings, Change, Command, Outcome } from '../../../src/account/types';
import { StripError, type ErrorCode } from '../../../src/api/errors';
import type { Port, PortOrAll } from '../../../src/api/types';
import { readAccountSettings } from '../../../src/flow/shared-account';
import { FakeClock } from '../../support/fake-clock';
import { assertSentence, MAC, ScriptedService } from '../../support/scripted-service';

/** What the account had to say that concerns no message. */
class TestLog {
  readonly lines: string[] = [];
  failing = (what: string, { code }: StripError): void => void this.lines.push(`failing ${what} ${code}`);
  recovered = (what: string): void => void this.lines.push(`recovered ${what}`);
  unreadable = (what: string): void => void this.lines.push(`unreadable ${what}`);
  retrying = (error: StripError): void => void this.lines.push(`retrying ${error.code}`);
  retryingOver = (): void => void this.lines.push('retrying over');
  rateLimited = (seconds: number): void => void this.lines.push(`rate limited ${seconds}`);
  unknownOutlet = (kind: string, mac: string, port: Port): void =>
    void this.lines.push(`unknown ${kind} ${mac}/${port}`);
  notRestored = ({ mac, port }: Command, error: StripError): void =>
    void this.lines.push(`not restored ${mac}/${port} ${error.code}`);
  fault = (error: unknown): void => void this.lines.push(`fault ${String(error)}`);
}

/** How a promise ended, once it did. */
export interface Ending {
  outcome?: Outcome;
  error?: StripError;
  /** How often it settled. */
  times: number;
  /** Why it waited each time: the error before a retry, or its own pause. */
  progress: (ErrorCode | 'pausing')[];
}

export interface TestAccount {
  clock: FakeClock;
  service: ScriptedService;
  log: TestLog;
  account: Account;
  /** Runs a command and watches how it ends. */
  run: (
    port: PortOrAll,
    action: Command['action'],
    more?: Partial<Command> & { owner?: object; onOutcome?: (outcome: Outcome) => void },
  ) => Ending;
}

/** An account with a scripted service, a clock that stands still, and the usual settings where `settings` says nothing else. */
export function startAccount(settings: Partial<AccountSettings> = {}): TestAccount {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  const log = new TestLog();
  const account = new Account({ service, clock, log, settings: { ...readAccountSettings({}), ...settings } });
  return {
    clock,
    service,
    log,
    account,
    run: (port, action, { owner = {}, onOutcome, ...more } = {}) => {
      const ending: Ending = { times: 0, progress: [] };
      account
        .run(
          { mac: MAC, port, action, delay: 5000, ...more },
          {
            owner,
            onProgress: (progress) =>
              ending.progress.push(progress.phase === 'retrying' ? progress.error.code : progress.phase),
          },
        )
        .then(
          (outcome) => {
            ending.outcome = outcome;
            ending.times++;
            onOutcome?.(outcome);
          },
          (error: unknown) => {
            if (!(error instanceof StripError)) throw error;
            assertSentence(error);
            ending.error = error;
            ending.times++;
          },
        );
      return ending;
    },
  };
}

const onOff = (on: boolean | null): string => (on === null ? 'unknown' : on ? 'on' : 'off');

/** A change in short. */
export function said(change: Change): string {
  const first = 'previous' in change && change.previous === null ? ' (first)' : '';
  switch (change.kind) {
    case 'account':
      return `account ${change.available}`;
    case 'strip':
      return `${change.strip.mac} ${change.available ? 'available' : 'unavailable'}${first}`;
    case 'outlet':
      return `${change.strip.mac}/${change.port} ${onOff(change.on)}${first}`;
    case 'reading':
      return `${change.strip.mac} ${change.name} ${change.value}${first}`;
    case 'description':
    case 'removed':
      return `${change.strip.mac} ${change.kind}`;
  }
}
