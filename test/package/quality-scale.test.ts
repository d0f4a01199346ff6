import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { REPOSITORY } from '../support/node-red-install';

interface Rule {
  status: 'done' | 'exempt' | 'todo';
  why: string;
  evidence?: string[];
}

const scale = parse(readFileSync(path.join(REPOSITORY, 'test/quality_scale.yaml'), 'utf8')) as Record<
  string,
  Record<string, Rule>
>;

describe('the quality scale', () => {
  it('covers all four tiers with every rule they have', () => {
    const counts = Object.entries(scale).map(([tier, rules]) => [tier, Object.keys(rules).length]);
    assert.deepEqual(counts, [
      ['bronze', 20],
      ['silver', 10],
      ['gold', 21],
      ['platinum', 3],
    ]);
  });

  for (const [tier, rules] of Object.entries(scale)) {
    for (const [name, rule] of Object.entries(rules)) {
      it(`${tier}: ${name} says why, and shows files that exist where it claims to be done`, () => {
        assert.match(rule.status, /^(done|exempt|todo)$/);
        assert.ok(rule.why.length > 0);
        if (rule.status === 'done') assert.ok(rule.evidence?.length, 'done needs evidence');
        const missing = (rule.evidence ?? []).filter((file) => !existsSync(path.join(REPOSITORY, file)));
        assert.deepEqual(missing, []);
      });
    }
  }
});
