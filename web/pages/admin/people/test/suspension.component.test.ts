import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminIdentityDetails, AdminSuspension } from '@countersign/protocol/operations/people'
import { h } from 'preact'
import { event, type } from '../../../../testing/render.ts'
import { type PageRequest, Refused } from '../../../../testing/organization-pages.ts'
import { pageMoment, pagePerson, renderForOperator } from '../../../../testing/operator-pages.ts'

const { Identity } = await import('../Identity.tsx')
const { clearToast } = await import('../../../../components/frame/toast.ts')

const nothing = () => {}
const suspension: AdminSuspension = {
  ...{ source: 'operator', scope: 'account', reason: 'Left the company', suspendedAt: pageMoment, until: null },
}
const ofDirectory: AdminSuspension = { ...suspension, source: 'scim:1', scope: 'identity', reason: 'Deactivated' }
const suspended = (...suspensions: AdminSuspension[]) => pagePerson({ status: 'suspended', suspensions })

/** Opens an identity. `answers` are those to its reads: the last one to all later reads. */
async function open(...answers: (AdminIdentityDetails | Promise<AdminIdentityDetails> | Refused)[]) {
  clearToast()
  const seen: AdminIdentityDetails[] = []
  const given = { identityId: 'identity-of-ada', tab: undefined, goTo: nothing, onDeleted: nothing }
  const conflicts: Refused[] = []
  const read = async () => {
    const next = await (answers.length > 1 ? answers.shift() : answers[0])
    return next instanceof Refused ? next : { identity: next }
  }
  const page = await renderForOperator(
    () =>
      h('main', {}, [
        h('h1', { tabIndex: -1 }, 'Users'),
        h(Identity, { ...given, onChanged: (found) => seen.push(found) }),
      ]),
    ({ name }: PageRequest) => {
      if (name.endsWith('/recovery-links')) return { recoveryLinks: [] }
      if (name.startsWith('POST')) return conflicts.shift() ?? { ...suspension, identityId: given.identityId }
      return name.startsWith('DELETE') ? null : read()
    },
  )
  const offers = () =>
    ['activate', 'suspend'].filter((name) => document.querySelector(`[data-action="ask-${name}"]`) !== null)
  const submit = () => page.after(() => page.find('dialog form').dispatchEvent(event('submit')))
  const says = () => document.querySelector('.toast')?.textContent ?? ''
  return { ...page, offers, submit, says, seen, conflicts }
}

test('of an active identity, the suspension is offered', async () => {
  const { offers } = await open(pagePerson())
  assert.deepEqual(offers(), ['suspend'])
})

test('what a directory has suspended can be suspended by operators too, and not activated', async () => {
  const { offers, text } = await open(suspended(ofDirectory))
  assert.deepEqual(offers(), ['suspend'])
  assert.match(text(), /Suspended by the directory/)
})

test('a suspension of one identity by operators can be ended, or widened to the account', async () => {
  assert.deepEqual((await open(suspended({ ...suspension, scope: 'identity' }))).offers(), ['activate', 'suspend'])
  assert.deepEqual((await open(suspended(suspension))).offers(), ['activate'])
  const both = await open(suspended(suspension, ofDirectory))
  assert.deepEqual(both.offers(), ['activate'])
  assert.match(both.text(), /Suspended: .*Left the company.*Suspended by the directory/s)
})

test('a suspension is shown and can be ended while a deletion is scheduled, which stays so', async () => {
  const deletion = {
    status: 'deletion_scheduled',
    statusReason: 'By their request',
    deletionDueAt: pageMoment,
  } as const
  const [before, after] = [{ ...suspended(suspension), ...deletion }, pagePerson({ ...deletion, version: 2 })]
  const { click, submit, offers, says, text, find } = await open(before, after)
  assert.match(text(), /Suspended: .*Left the company.*To be deleted: .*By their request/s)
  assert.deepEqual(offers(), ['activate'])
  assert.equal(find('[data-action="ask-activate"]').textContent, 'End suspension…')
  await click('[data-action="ask-activate"]')
  assert.match(find('dialog').textContent, /still to be deleted/)
  await submit()
  assert.match(says(), /The suspension of .*Ada.* has ended/)
  assert.deepEqual(offers(), [])
  assert.doesNotMatch(text(), /Left the company/)
  assert.match(text(), /To be deleted/)
})

test('an activated identity that the directory suspends is not said to be active', async () => {
  const { click, submit, says, text } = await open(suspended(suspension, ofDirectory), suspended(ofDirectory))
  await click('[data-action="ask-activate"]')
  assert.match(text(), /stays suspended until the directory activates it/)
  await submit()
  assert.match(says(), /The directory still suspends the identity/)
})

test('an activated identity that no one else suspends is said to be active', async () => {
  const { click, submit, says, offers } = await open(suspended(suspension), pagePerson({ version: 2 }))
  await click('[data-action="ask-activate"]')
  await submit()
  assert.match(says(), /is active again/)
  assert.deepEqual(offers(), ['suspend'])
})

test('a suspension names the version that the operator saw, and of two the second one sees the first', async () => {
  const { click, after, submit, find, requests, conflicts, says } = await open(pagePerson(), {
    ...suspended(suspension),
    version: 2,
  })
  conflicts.push(new Refused(412, 'version_mismatch'))
  await click('[data-action="ask-suspend"]')
  await after(() => type(find('dialog input[name="reason"]'), 'Spam'))
  await submit()
  const versions = () =>
    requests.filter(({ name }) => name.startsWith('POST')).map(({ headers }) => headers.get('if-match'))
  assert.deepEqual(versions(), ['"1"'])
  assert.match(find('dialog').textContent, /Left the company.*changed in the meantime/s)
  assert.equal(says(), '')
  await submit()
  assert.deepEqual(versions(), ['"1"', '"2"'])
})

test('an act whose result cannot be read again is confirmed, and the page says what it cannot read', async () => {
  const { click, submit, says, find, seen } = await open(pagePerson(), new Refused(503, 'temporarily_unavailable'))
  await click('[data-action="ask-sign-out"]')
  await submit()
  assert.match(says(), /is signed out/)
  assert.ok(find('[data-action="retry"]'))
  assert.equal(seen.length, 1)
})

test('an activation whose result cannot be read is said to have ended the suspension', async () => {
  const { click, submit, says } = await open(suspended(suspension), new Refused(503, 'temporarily_unavailable'))
  await click('[data-action="ask-activate"]')
  await submit()
  assert.match(says(), /The suspension of .*Ada.* has ended/)
})

test('the focus stays on the page when an act removes the button that began it', async () => {
  const changed = Promise.withResolvers<AdminIdentityDetails>()
  const { click, submit, find, after } = await open(suspended(suspension), changed.promise)
  find('[data-action="ask-activate"]').focus()
  await click('[data-action="ask-activate"]')
  await submit()
  assert.equal(document.activeElement?.getAttribute('data-action'), 'ask-activate')
  await after(() => changed.resolve(pagePerson({ version: 2 })))
  assert.equal(document.activeElement?.localName, 'h1')
})
