import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { candidatesOf, nextStep, type Event, type Grant, type Step, type SignInRequest } from '../steps.ts'

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

test('AUZ-25 of the identities with the address of a hint, those that connected the app count with prompt=none', () => {
  const shared = { email: 'ada@example.com', emailVerified: true }
  const [one, other] = [
    { ...ada, ...shared },
    { ...ada, ...shared, identityId: asId<IdentityId>('id-of-work'), handle: 'ada-work' },
  ]
  const grace = { ...ada, identityId: asId<IdentityId>('id-of-grace'), handle: 'grace' }
  const request: SignInRequest = { prompts: ['none'], loginHint: shared.email }
  assert.deepEqual(candidatesOf([one, other, grace], request), [one, other])
  assert.deepEqual(candidatesOf([one, other], { prompts: ['none'] }), [one, other])
  const end = (end: string) => ({ at: 'leave silently', end })
  assert.deepEqual(endOf([], undefined, request), end('consent_required'))
  assert.deepEqual(endOf([one, other], undefined, request), end('account_selection_required'))
  assert.deepEqual(endOf([grace], undefined, request), end('login_required'))
  assert.equal(endOf([other], undefined, request).at, 'read grant')
})
