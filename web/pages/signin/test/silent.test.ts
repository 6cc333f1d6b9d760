import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { isForConnected, nextStep, type Event, type Grant, type Step, type SignInRequest } from '../steps.ts'

const ada: Identity = {
  ...{ identityId: asId<IdentityId>('id-of-ada'), handle: 'ada', displayName: 'Ada', avatarUrl: null },
  ...{ email: null, emailVerified: false, createdAt: '2026-01-01T00:00:00.000Z' },
}
const acme = { id: asId<OrganizationId>('id-of-acme'), name: 'Acme', logoUrl: null, known: false }
const globex = { ...acme, id: asId<OrganizationId>('id-of-globex'), loginUrl: 'http://localhost:4400/api/sso/1/start' }

function endOf(identities: Identity[], read: Grant | undefined, request: Partial<SignInRequest> = {}): Step {
  const events: Event[] = [{ type: 'session found', identities, ageSeconds: 0 }]
  if (read) events.push({ type: 'grant read', grant: read })
  return events.reduce<Step>((step, event) => nextStep(step, event, { ...request, prompts: ['none'] }), { at: 'look' })
}

test('AUZ-25 an app that is not connected learns with prompt=none only that it needs consent', () => {
  const read: Grant = { exists: false, missing: ['openid'], lacking: ['email'] }
  const ends = [endOf([], undefined), endOf([ada], read)]
  for (const organizations of [[acme, globex], [globex], []])
    for (const organization of ['select', acme.id, globex.id])
      ends.push(endOf([ada], { ...read, organizations }, { organization }))
  for (const end of ends) assert.deepEqual(end, { at: 'leave silently', end: 'consent_required' })
})

test('AUZ-25 with prompt=none and without a named identity, only those that connected the app count', () => {
  assert.equal(isForConnected({ prompts: ['none'] }), true)
  assert.equal(isForConnected({ prompts: [] }), false)
  assert.equal(isForConnected({ prompts: ['none'], loginHint: 'ada' }), false)
  assert.equal(isForConnected({ prompts: ['none'], identityId: ada.identityId }), false)
})
