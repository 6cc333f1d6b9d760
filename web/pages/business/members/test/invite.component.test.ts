import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { event, type as typeInto } from '../../../../testing/render.ts'
import {
  pageIdentity,
  pageInvitation,
  pageMember,
  pageOrganization,
  Refused,
  renderForOrganization,
} from '../../../../testing/organization-pages.ts'
import { isObject } from '@countersign/protocol/formats/json'
import type { ReturnedAct } from '../../../../lib/acts/returning.ts'
import { noteRest, parseInvitee, parseInvitees, takeRest } from '../invitees.ts'

const { Members } = await import('../Members.tsx')

const ada = pageMember('ada', 'owner')
const organization = pageOrganization(ada)
const nothing = () => {}

/** Opens the members, and lets the service refuse some invitations. */
function openMembers(refusals: Record<string, Refused | Promise<never>> = {}, returned?: ReturnedAct) {
  const events = { goTo: nothing, onChanged: nothing, onMemberChanged: nothing, onLeft: nothing }
  const given = { organization, identities: [pageIdentity('ada')], returned, ...events }
  return renderForOrganization(
    () => h(Members, given),
    ({ name, body }) => {
      if (name.endsWith('/members')) return { members: [ada], nextCursor: null, total: 1 }
      if (!isObject(body)) return { invitations: [] }
      const handle = String(body['handle'])
      return refusals[handle] ?? { invitation: pageInvitation(handle), url: 'https://id.example/i', mailed: false }
    },
  )
}

async function invite(names: string, refusals: Parameters<typeof openMembers>[0]): Promise<string> {
  const { click, after, find } = await openMembers(refusals)
  await click('[data-action="invite"]')
  await after(() => typeInto(find('textarea[name="invitees"]'), names))
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  return find('dialog').textContent
}

test('somebody is invited by username, as it is shown or without its sign, or by address', () => {
  assert.deepEqual(parseInvitee(' @ada '), { handle: 'ada' })
  assert.deepEqual(parseInvitee('ada.lovelace'), { handle: 'ada.lovelace' })
  assert.deepEqual(parseInvitee('ada@engine.example '), { email: 'ada@engine.example' })
})

test('what is neither invites nobody', () => {
  for (const text of ['', '@', 'a', 'ada lovelace', 'ada@', '@@ada', 'ada@engine'])
    assert.equal(parseInvitee(text), undefined)
})

test('several are invited at once, each once, and none if one is invalid', () => {
  assert.deepEqual(parseInvitees('ada@engine.example, @grace\nada@engine.example; alan'), [
    { email: 'ada@engine.example' },
    { handle: 'grace' },
    { handle: 'alan' },
  ])
  for (const text of ['', ' ,', 'ada@engine.example, ada@']) assert.equal(parseInvitees(text), undefined)
})

test('the form says of each name why it was not invited', async () => {
  const isMember = new Refused(409, 'already_member')
  const isUnknown = new Refused(404, 'identity_not_found')
  assert.match(await invite('bob, carl', { bob: isMember, carl: isMember }), /@bob, @carl\. This person is already a/)
  const mixed = await invite('bob, carl', { bob: isMember, carl: isUnknown })
  assert.match(mixed, /@bob\. This person is already a member\./)
  assert.match(mixed, /@carl\. No user with this username\./)
  const one = await invite('carl', { carl: isUnknown })
  assert.match(one, /No user with this username\./)
  assert.doesNotMatch(one, /Not invited/)
})

test('what stopped the invitations is said beside those that were created', async () => {
  const said = await invite('bob, carl, dora', { carl: new Refused(409, 'too_many_invitations') })
  assert.match(said, /@bob is invited/)
  assert.match(said, /Not invited: @carl, @dora\. Too many open invitations/)
})

test('the rest of a form opens the dialog after the signature of an invitation alone', async () => {
  const rest = { organizationId: organization.id, role: 'member', names: ['@carl'] } as const
  const isOpened = async (returned: ReturnedAct) => {
    await openMembers({}, returned)
    return document.querySelector('textarea[name="invitees"]') !== null
  }
  noteRest({ ...rest, names: [...rest.names] })
  assert.ok(await isOpened({ action: 'organization.invitation.created', outcome: 'done' }))
  noteRest({ ...rest, names: [...rest.names] })
  assert.ok(!(await isOpened({ action: 'organization.invitation.created', outcome: 'declined' })))
  assert.ok(!(await isOpened({ action: 'organization.invitation.created', outcome: 'done' })), 'it was dropped')
  noteRest({ ...rest, names: [...rest.names] })
  assert.ok(!(await isOpened({ action: 'organization.member.updated', outcome: 'done' })))
})

test('a name that was refused is among those that the dialog opens with after the next signature', async () => {
  const isSigned = new Promise<never>(() => {})
  await invite('typo, bob, carl', { typo: new Refused(404, 'identity_not_found'), bob: isSigned })
  assert.deepEqual(takeRest(organization.id)?.names, ['@typo', '@carl'])
})
