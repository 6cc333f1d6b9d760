import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { connectorOf, delegationOf } from '../consent/test/connector-samples.ts'
import { acceptsSso, isSettled, nextStep, type Event, type Grant, type Step, type SignInRequest } from '../steps.ts'

const ada = identityOf('ada')
const countess = identityOf('countess')
const grant = { exists: true, missing: [] }
const plain: SignInRequest = { prompts: [] }
const closed = { exists: false, missing: [], accessDenied: { contact: null } }
const found = (identities: Identity[], ageSeconds = 0): Event => ({ type: 'session found', identities, ageSeconds })

test('a stranger signs in first', () => {
  assert.deepEqual(walk([{ type: 'nobody signed in' }]), { at: 'authenticate' })
})

test('a person with one identity does not choose', () => {
  const step = walk([found([ada])])
  assert.deepEqual(step, { at: 'read grant', identities: [ada], identity: ada })
})

test('a person with several identities chooses, and only the chosen one goes on', () => {
  const identities = [ada, countess]
  const step = walk([found(identities)])
  assert.deepEqual(step, { at: 'choose identity', identities, mismatch: false })
  const chosen = nextStep(step, { type: 'identity chosen', identity: countess }, plain)
  assert.deepEqual(chosen, { at: 'read grant', identities, identity: countess })
})

for (const [what, request] of Object.entries<Partial<SignInRequest>>({
  'by its id': { identityId: countess.identityId },
  'by its handle': { loginHint: 'countess' },
  'by its handle in capitals': { loginHint: 'COUNTESS' },
})) {
  test(`the identity that the app asks for ${what} is taken without a choice`, () => {
    const step = walk([found([ada, countess])], request)
    assert.equal(step.at === 'read grant' && step.identity, countess)
  })
}

for (const [what, request] of Object.entries<Partial<SignInRequest>>({
  'an id': { identityId: '00000000-0000-4000-8000-000000000000' },
  'a handle': { loginHint: 'someone-else' },
  'an id that is missing beside a handle that is there': { identityId: 'unknown', loginHint: 'ada' },
})) {
  test(`a person who lacks the identity the app asks for by ${what} decides, also with only one`, () => {
    const step = walk([found([ada])], request)
    assert.deepEqual(step, { at: 'choose identity', identities: [ada], mismatch: true })
  })
}

const addressed = { ...ada, email: 'Ada@acme.example', emailVerified: true }

for (const prompts of [[], ['none']] as const)
  test(`the identity with the verified address that the app asks for goes on, prompt=${prompts.join()}`, () => {
    const request = { prompts: [...prompts], loginHint: 'ada@ACME.example' }
    const step = walk([found([countess, addressed])], request)
    assert.deepEqual(step, { at: 'read grant', identities: [countess, addressed], identity: addressed })
  })

test('an address that is not verified, or that several identities have, decides nothing', () => {
  const hint = { loginHint: 'ada@acme.example' }
  const unverified = [{ ...addressed, emailVerified: false }]
  assert.deepEqual(walk([found(unverified)], hint), { at: 'choose identity', identities: unverified, mismatch: true })
  const shared = [addressed, { ...countess, email: 'ada@acme.example', emailVerified: true }]
  assert.deepEqual(walk([found(shared)], hint), { at: 'choose identity', identities: shared, mismatch: false })
  const silent = walk([found(shared)], { ...hint, prompts: ['none'] })
  assert.deepEqual(silent, { at: 'leave silently', end: 'account_selection_required' })
})

test('a session that SSO opened answers requests for an organization, unless they require a passkey', () => {
  const request: SignInRequest = { prompts: ['consent'], scope: ['openid'] }
  const organized: SignInRequest = { ...request, organization: 'select', organizationAccess: 'read' }
  assert.equal(acceptsSso(organized), true)
  const { organizationAccess: _, ...withoutAccess } = organized
  const others: SignInRequest[] = [
    ...[request, withoutAccess, { ...organized, scope: ['openid', 'user_id'] }, { ...organized, maxAgeSeconds: 3600 }],
    ...[
      { ...organized, key: { mode: 'symmetric', reset: false } as const },
      { ...organized, connector: connectorOf() },
    ],
  ]
  for (const other of others) assert.equal(acceptsSso(other), false)
  assert.equal(acceptsSso({ ...organized, prompts: ['consent', 'login'] }), false)
})

test('an identity without access is shown the contact for access, and another one can be chosen', () => {
  const identities = [ada, countess]
  const accessDenied = { contact: 'it@example.com' }
  const chosen: Event[] = [found(identities), { type: 'identity chosen', identity: ada }]
  const step = walk([...chosen, granted({ exists: false, missing: ['openid'], accessDenied })])
  assert.deepEqual(step, { at: 'no access', identities, identity: ada, ...accessDenied })
  const elsewhere = { contact: null, elsewhere: 'Notes' }
  const there = walk([...chosen, granted({ exists: true, missing: [], accessDenied: elsewhere })])
  assert.deepEqual(there, { at: 'no access', identities, identity: ada, ...elsewhere })
  assert.equal(nextStep(step, { type: 'another identity wanted' }, plain).at, 'choose identity')
  assert.deepEqual(nextStep(step, { type: 'denied' }, plain), { at: 'leave', identity: undefined })
})

test('consent shows what is missing, and approval leads away', () => {
  const requested = { exists: true, missing: ['email'] }
  const step = walk([found([ada]), { type: 'grant read', grant: requested }])
  assert.deepEqual(step, { at: 'consent', identities: [ada], identity: ada, grant: requested })
  assert.deepEqual(nextStep(step, { type: 'approved' }, plain), { at: 'leave', identity: ada })
  assert.deepEqual(nextStep(step, { type: 'denied' }, plain), { at: 'leave', identity: undefined })
})

test('CID-07 a silent end does not lead to a stranger, and a late answer does not change that', () => {
  const ended: Step = { at: 'leave silently', end: 'consent_required' }
  const confirming = nextStep(ended, { type: 'app is unknown' }, { prompts: ['none'] })
  assert.deepEqual(confirming, { at: 'ask to leave', why: 'consent_required' })
  assert.deepEqual(nextStep(confirming, { type: 'nobody signed in' }, { prompts: ['none'] }), confirming)
  const withdrawn: Step = { at: 'withdrawn', why: 'invalid_target' }
  const gone = nextStep(withdrawn, { type: 'app is unknown' }, { prompts: ['none'] })
  assert.deepEqual(gone, { at: 'ask to leave', why: 'invalid_target' })
})

test('an identity without a claim that the app requires is asked for it, though it has agreed to everything', () => {
  const lacking: Grant = { ...grant, lacking: ['email'] }
  assert.equal(isSettled(lacking, plain), false)
  assert.equal(walk([found([ada]), { type: 'grant read', grant: lacking }]).at, 'consent')
  const silent = walk([found([ada]), { type: 'grant read', grant: lacking }], { prompts: ['none'] })
  assert.deepEqual(silent, { at: 'leave silently', end: 'interaction_required' })
})

test('what an app may do with organizations is switched at consent, and nowhere else', () => {
  const requested: Grant = { exists: false, missing: ['openid'], organizationAccess: true }
  const step = walk([found([ada]), { type: 'grant read', grant: requested }])
  const off = nextStep(step, { type: 'organization access switched', allowed: false }, plain)
  assert.deepEqual(off, { ...step, grant: { ...requested, organizationAccess: false } })
  const left = nextStep(off, { type: 'approved' }, plain)
  assert.equal(nextStep(left, { type: 'organization access switched', allowed: true }, plain), left)
})

test('an answer that goes to a freed port is asked about each time', () => {
  assert.equal(isSettled(grant, plain), true)
  assert.equal(isSettled(grant, { ...plain, asksAnew: true }), false)
})

test('an app that takes a key gets it once it is open: by a touch, or by the recovery code', () => {
  const key = { mode: 'symmetric', reset: false } as const
  const consent = walk([found([ada]), { type: 'grant read', grant }], { key })
  const unlock = nextStep(consent, { type: 'keys needed' }, { ...plain, key })
  assert.deepEqual(unlock, { at: 'unlock', identities: [ada], identity: ada, grant })
  const shut = nextStep(unlock, { type: 'keys are shut', keyWraps: [] }, { ...plain, key })
  assert.equal(shut.at, 'enter code')
  assert.equal(nextStep(shut, { type: 'turned back' }, { ...plain, key }).at, 'unlock')
  for (const step of [consent, unlock, shut]) {
    assert.deepEqual(nextStep(step, { type: 'approved' }, { ...plain, key }), { at: 'leave', identity: ada })
    assert.deepEqual(nextStep(step, { type: 'denied' }, { ...plain, key }), { at: 'leave', identity: undefined })
    assert.equal(nextStep(step, { type: 'nobody signed in' }, { ...plain, key }).at, 'authenticate')
  }
  assert.equal(nextStep({ at: 'look' }, { type: 'keys are shut', keyWraps: [] }, plain).at, 'look')
})

test('where nothing may be asked, an app that takes a key is told that it would have to be unlocked', () => {
  const read: Event[] = [found([ada]), { type: 'grant read', grant }]
  const prompts: SignInRequest['prompts'] = ['none']
  const ends = [{ mode: 'symmetric', reset: false } as const, { mode: 'symmetric', reset: true } as const].map((key) =>
    walk(read, { prompts, key }),
  )
  assert.deepEqual(ends, [
    { at: 'leave silently', end: 'interaction_required' },
    { at: 'leave silently', end: 'consent_required' },
  ])
})

test('only a grant that exists and lacks nothing is settled', () => {
  const reset = { mode: 'symmetric', reset: true } as const
  assert.equal(isSettled({ exists: true, missing: [] }, { prompts: [], key: reset }), false)
  assert.equal(isSettled({ exists: true, missing: [] }, plain), true)
  assert.equal(isSettled({ exists: true, missing: ['profile'] }, plain), false)
  assert.equal(isSettled({ exists: false, missing: [] }, plain), false)
})

test('what an app wants at another is settled only where that is covered too', () => {
  const uncovered = { delegation: delegationOf(), missingScopes: [], covered: false }
  assert.equal(isSettled({ ...grant, connector: uncovered }, plain), false)
  assert.equal(isSettled({ ...grant, connector: { ...uncovered, covered: true } }, plain), true)
  const request: Partial<SignInRequest> = { connector: connectorOf(), prompts: ['none'] }
  const step = walk([found([ada]), { type: 'grant read', grant: { ...grant, connector: uncovered } }], request)
  assert.deepEqual(step, { at: 'leave silently', end: 'consent_required' })
})

test('where the other app has given up what was asked for, there is nothing to agree to', () => {
  const request = { connector: connectorOf() }
  const gone: Step = { at: 'withdrawn', why: 'invalid_target' }
  assert.deepEqual(walk([found([ada]), { type: 'grant read', grant }], request), gone)
  const connector = { delegation: null, missingScopes: ['calendar.read'], covered: false }
  const consent = walk([found([ada]), { type: 'grant read', grant: { ...grant, connector } }], request)
  assert.equal(consent.at, 'consent')
  assert.deepEqual(nextStep(consent, { type: 'withdrawn', why: 'invalid_target' }, { ...plain, ...request }), gone)
})

test('a person may think again about the identity, and is shown all of them', () => {
  const consent = walk([found([ada]), { type: 'grant read', grant }])
  const step = nextStep(consent, { type: 'another identity wanted' }, plain)
  assert.deepEqual(step, { at: 'choose identity', identities: [ada], mismatch: false, from: consent })
})

test('a change that is cancelled leads back to the consent, and there is nothing to cancel at the first choice', () => {
  const consent = walk([
    found([ada, countess]),
    { type: 'identity chosen', identity: ada },
    { type: 'grant read', grant },
  ])
  const changing = nextStep(consent, { type: 'another identity wanted' }, plain)
  assert.equal(nextStep(changing, { type: 'change cancelled' }, plain), consent)
  const first = walk([found([ada, countess])])
  assert.equal(nextStep(first, { type: 'change cancelled' }, plain), first)
})

test('an identity that is added during the choice is chosen', () => {
  const step = walk([found([ada]), { type: 'grant read', grant }, { type: 'another identity wanted' }])
  const added = nextStep(step, { type: 'identity added', identity: countess }, plain)
  assert.deepEqual(added, { at: 'read grant', identities: [ada, countess], identity: countess })
})

test('who continues as one of their identities is not asked which, unless the app wants to know', () => {
  const signedIn: Event = { type: 'signed in', identities: [ada, countess], identityId: countess.identityId }
  const after = (request: Partial<SignInRequest>) =>
    nextStep({ at: 'authenticate' }, signedIn, { ...plain, ...request })
  assert.deepEqual(after({}), { at: 'read grant', identities: [ada, countess], identity: countess })
  assert.equal(after({ prompts: ['select_account'] }).at, 'choose identity')
  const hinted = after({ loginHint: ada.handle })
  assert.equal(hinted.at === 'read grant' && hinted.identity, ada)
  assert.equal(after({ loginHint: 'somebody-else' }).at, 'choose identity')
})

test('who adds an address while they read is asked again with it, and not where nothing is read', () => {
  const consent = walk([found([ada]), granted({ exists: false, missing: ['email'] })])
  const withEmail = { ...ada, email: 'ada@example.com', emailVerified: true }
  const again = nextStep(consent, { type: 'identities changed', identities: [withEmail] }, plain)
  assert.deepEqual(again, { at: 'read grant', identities: [withEmail], identity: withEmail })
  const gone = nextStep(consent, { type: 'identities changed', identities: [countess] }, plain)
  assert.equal(gone.at, 'choose identity')
  const start: Step = { at: 'look' }
  assert.equal(nextStep(start, { type: 'identities changed', identities: [ada] }, plain), start)
})

test('a session that ends on the way leads back to signing in, from every step but the last', () => {
  const consent = walk([found([ada]), { type: 'grant read', grant }])
  assert.deepEqual(nextStep(consent, { type: 'nobody signed in' }, plain), { at: 'authenticate' })
  const left: Step = { at: 'leave', identity: ada }
  assert.equal(nextStep(left, { type: 'nobody signed in' }, plain), left)
})

test('late and repeated answers change nothing', () => {
  const start: Step = { at: 'look' }
  const events: Event[] = [{ type: 'approved' }, { type: 'denied' }, { type: 'grant read', grant }]
  for (const event of events) assert.equal(nextStep(start, event, plain), start)
  const choosing = walk([found([ada, countess])])
  assert.equal(nextStep(choosing, { type: 'grant read', grant }, plain), choosing)
  assert.equal(nextStep(choosing, { type: 'signed in', identities: [ada] }, plain), choosing)
})

test('an app that wants a new proof gets one, whoever is signed in', () => {
  assert.deepEqual(walk([found([ada])], { prompts: ['login'] }), { at: 'authenticate' })
  assert.deepEqual(walk([found([ada], 61)], { maxAgeSeconds: 60 }), { at: 'authenticate' })
  assert.equal(walk([found([ada], 60)], { maxAgeSeconds: 60 }).at, 'read grant')
  const proved = walk([found([ada]), { type: 'signed in', identities: [ada] }], { prompts: ['login'] })
  assert.equal(proved.at, 'read grant')
})

test('an app that wants a choice gets one, also of one, and also with a wish', () => {
  const choice = { at: 'choose identity', identities: [ada], mismatch: false }
  assert.deepEqual(walk([found([ada])], { prompts: ['select_account'] }), choice)
  assert.deepEqual(walk([found([ada])], { prompts: ['select_account'], loginHint: 'ada' }), choice)
})

test('an app that wants consent gets the question, though nothing is missing', () => {
  assert.equal(isSettled(grant, { prompts: ['consent'] }), false)
})

for (const [what, end, events, request] of [
  ['nobody is signed in', 'login_required', [{ type: 'nobody signed in' }], {}],
  ['the proof is too old', 'login_required', [found([ada], 61)], { maxAgeSeconds: 60 }],
  ['another person is signed in', 'login_required', [found([ada])], { identityId: countess.identityId }],
  ['there are several identities', 'account_selection_required', [found([ada, countess])], {}],
  ['something was not granted', 'consent_required', [found([ada]), granted({ exists: true, missing: ['email'] })], {}],
  ['the identity has no access', 'access_denied', [found([ada]), granted(closed)], {}],
  ['nothing was granted', 'consent_required', [found([ada]), granted({ exists: false, missing: [] })], {}],
] satisfies [string, string, Event[], Partial<SignInRequest>][])
  test(`where nothing may be asked and ${what}, the app is told ${end}`, () => {
    assert.deepEqual(walk(events, { ...request, prompts: ['none'] }), { at: 'leave silently', end })
  })

test('where nothing may be asked and nothing has to be, the code is fetched', () => {
  const step = walk([found([ada, countess]), granted(grant)], { prompts: ['none'], loginHint: 'ada' })
  assert.equal(step.at, 'consent')
})

const acme = { id: asId<OrganizationId>('id-of-acme'), name: 'Acme', logoUrl: null, known: false }
const globex = {
  ...acme,
  id: asId<OrganizationId>('id-of-globex'),
  name: 'Globex',
  loginUrl: 'http://localhost:4400/api/sso/1/start',
}
const inBoth = { ...grant, organizations: [acme, globex] }

test('an app that names an organization is used for it, and what it is told of it is agreed to once', () => {
  const consent = walk([found([ada]), granted(inBoth)], { organization: acme.id })
  const agreed = { ...inBoth, organization: acme }
  assert.deepEqual(consent, { at: 'consent', identities: [ada], identity: ada, grant: agreed })
  assert.equal(isSettled({ ...grant, organization: acme }, plain), false)
  assert.equal(isSettled({ ...grant, organization: { ...acme, known: true } }, plain), true)
})

test('SSO-16 a user who connected the app themselves uses their passkey before it is used for the organization', () => {
  const first = { ...acme, passkeyRequired: true as const }
  const read = { ...grant, organizations: [first, globex] }
  const step = walk([found([ada]), granted(read)], { organization: acme.id })
  assert.deepEqual(step, { at: 'authenticate', forOrganization: 'Acme' })
  const silently = walk([found([ada]), granted(read)], { organization: acme.id, prompts: ['none'] })
  assert.deepEqual(silently, { at: 'leave silently', end: 'login_required' })
})

test('an app that leaves the organization to the person asks who is in one, and nobody else', () => {
  const request = { organization: 'select' }
  const choosing = walk([found([ada]), granted(inBoth)], request)
  assert.deepEqual(choosing, {
    at: 'choose organization',
    identities: [ada],
    identity: ada,
    read: inBoth,
    mismatch: false,
  })
  const asThemselves = nextStep(
    choosing,
    { type: 'organization chosen', organization: undefined },
    { ...plain, ...request },
  )
  assert.deepEqual(asThemselves, { at: 'consent', identities: [ada], identity: ada, grant: inBoth })
  assert.equal(walk([found([ada]), granted({ ...grant, organizations: [] })], request).at, 'consent')
})

test('who is not in the organization that an app names is told so, and may go on as themselves', () => {
  const step = walk([found([ada]), granted({ ...grant, organizations: [] })], { organization: acme.id })
  assert.equal(step.at === 'choose organization' && step.mismatch, true)
})

test('an organization that has a sign-in of its own comes first, unless the person goes for another', () => {
  const request = { ...plain, organization: globex.id }
  const there = walk([found([ada]), granted(inBoth)], request)
  assert.equal(there.at === 'sign in there' && there.organization, globex)
  const choosing = nextStep(there, { type: 'another organization wanted' }, request)
  assert.equal(choosing.at, 'choose organization')
  const consent = nextStep(choosing, { type: 'organization chosen', organization: acme }, request)
  assert.equal(consent.at === 'consent' && consent.grant.organization, acme)
})

test('who thinks again of an organization chooses anew, also as whom', () => {
  const request = { ...plain, organization: acme.id }
  const alone = walk([found([ada]), granted(inBoth)], request)
  const again = nextStep(alone, { type: 'another identity wanted' }, request)
  assert.deepEqual(again, {
    at: 'choose organization',
    identities: [ada],
    identity: ada,
    read: inBoth,
    mismatch: false,
    from: alone,
  })
  const events: Event[] = [
    { type: 'identity chosen', identity: ada },
    granted(inBoth),
    { type: 'another identity wanted' },
    { type: 'identity chosen', identity: countess },
    granted(inBoth),
  ]
  assert.equal(walk([found([ada, countess]), ...events], request).at, 'choose organization')
})

for (const [what, end, organizations, organization] of [
  ['which organization', 'account_selection_required', [acme], 'select'],
  ['as whom, for an organization of others', 'account_selection_required', [acme], 'id-of-others'],
  ['for an organization that is new to the app', 'consent_required', [acme], acme.id],
  ['for one that has a sign-in of its own', 'login_required', [globex], globex.id],
] as const)
  test(`where nothing may be asked and the question is ${what}, the app is told ${end}`, () => {
    const read = granted({ ...grant, organizations: [...organizations] })
    assert.deepEqual(walk([found([ada]), read], { organization, prompts: ['none'] }), { at: 'leave silently', end })
  })

function granted(read: Grant): Event {
  return { type: 'grant read', grant: read }
}

function walk(events: Event[], request: Partial<SignInRequest> = {}): Step {
  return events.reduce<Step>((step, event) => nextStep(step, event, { ...plain, ...request }), { at: 'look' })
}

function identityOf(handle: string): Identity {
  const unshared = { avatarUrl: null, email: null, emailVerified: false, createdAt: '2026-01-01T00:00:00.000Z' }
  return { identityId: asId<IdentityId>(`id-of-${handle}`), handle, displayName: handle.toUpperCase(), ...unshared }
}
