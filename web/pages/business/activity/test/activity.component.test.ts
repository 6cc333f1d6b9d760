import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { pageMember, pageOrganization, renderForOrganization } from '../../../../testing/organization-pages.ts'
import { event } from '../../../../testing/render.ts'

const { Activity } = await import('../Activity.tsx')

const ada = pageMember('ada', 'owner')
const bob = pageMember('bob', 'member')
const abe = pageMember('abe', 'member')
const organization = pageOrganization(ada)
const path = `/api/organizations/${organization.id}`

/** Carl has left. The identity of Dora was deleted. */
const entries = ['ada', 'carl', 'dora'].map((handle) => ({
  ...{ entryId: `entry-${handle}`, at: ada.joinedAt, action: 'organization.domain.added', actor: 'user' },
  ...{ identityId: `identity-${handle}`, handle: handle === 'carl' ? handle : null, clientId: null, details: {} },
}))
const people = [{ identityId: ada.identityId, handle: 'ada', displayName: 'Ada Lovelace', avatarUrl: null }]

test('the events can be filtered by someone who has left, and members are read when the choice is opened', async () => {
  const { after, find, requests } = await renderForOrganization(
    () => h(Activity, { organization }),
    ({ name, query }) => {
      if (name === `GET ${path}/members`) return { members: [bob, abe, ada] }
      const by = query.get('by')
      const found = entries.filter(({ identityId }) => by === null || identityId === by)
      return { entries: found, people, nextCursor: null }
    },
  )
  const choices = () => [...find('[data-action="filter-by-person"]').children].map((option) => option.textContent)
  const reads = () => requests.filter(({ name }) => name === `GET ${path}/members`).length
  assert.deepEqual(choices(), ['Everyone', '@carl', 'Ada Lovelace'])
  assert.equal(reads(), 0)
  const choose = (value: string) => () => {
    Reflect.set(find('[data-action="filter-by-person"]'), 'value', value)
    find('[data-action="filter-by-person"]').dispatchEvent(event('change'))
  }
  await after(choose('identity-carl'))
  assert.equal(requests.at(-1)?.query.get('by'), 'identity-carl')
  assert.equal(document.querySelectorAll('.timeline li').length, 1)
  for (let times = 0; times < 2; times += 1)
    await after(() => find('[data-action="filter-by-person"]').dispatchEvent(event('focus')))
  assert.deepEqual(choices(), ['Everyone', '@carl', 'ada', 'abe', 'bob'])
  assert.equal(reads(), 1)
})
