import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditAction } from '../../../server/platform/audit/audit.ts'
import { de } from '../../locales/de.ts'
import { en } from '../../locales/en.ts'

/** What the operator does to keys and backups stands in no person's trail. */
type OfOperator = 'keys.rotated' | 'backup.taken' | 'backup.restored'
type OfPeople = Exclude<AuditAction, OfOperator>

test('every act that a person can find in their trail has its own words', () => {
  for (const words of [en, de]) {
    const acts: Record<OfPeople, string> = words.activity.acts
    const spoken = Object.values(acts)
    assert.equal(new Set(spoken).size, spoken.length)
    assert.ok(spoken.every((text) => text.length > 0))
  }
})
