import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activityMessages as ar } from '../../web/locales/ar/activity.ts'
import { activityMessages as de } from '../../web/locales/de/activity.ts'
import { activityMessages as en } from '../../web/locales/en/activity.ts'
import type { AuditAction } from '#platform/audit/audit-log.ts'

/** Actions of the operator on keys, settings, groups, lists, tokens, receivers and backups: in no user's activity. */
type OfOperator =
  | 'token_signing_key.rotated'
  | 'identities.listed'
  | 'settings.updated'
  | 'configuration.applied'
  | 'group.created'
  | 'group.updated'
  | 'group.deleted'
  | 'backup.created'
  | 'backup.completed'
  | 'backup.restored'
  | `admin_token.${string}`
  | `scim_token.${string}`
  | `sink.${string}`
  | `webhook.${string}`
  | 'invitation.created'
  | 'invitation.resent'
  | 'invitation.deleted'
type ActionOfUser = Exclude<AuditAction, OfOperator>

test('every event in the activity of a user has a text of its own in each language', () => {
  for (const words of [en, de, ar]) {
    const texts: Record<ActionOfUser, string> = words.activity.acts
    const shown = Object.values(texts)
    assert.equal(new Set(shown).size, shown.length)
    assert.ok(shown.every((text) => text.length > 0))
  }
})
