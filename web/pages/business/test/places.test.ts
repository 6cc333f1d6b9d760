import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routePath, parseRoute, type BusinessRoute } from '../routes.ts'

const places: [string, Exclude<BusinessRoute, { at: 'start' }>][] = [
  ['/organizations', { at: 'list' }],
  ['/organizations/new', { at: 'new' }],
  ['/organizations/1/settings', { at: 'organization', organizationId: '1', section: 'settings' }],
  ['/invitations/cs_invite_1', { at: 'invitation', token: 'cs_invite_1' }],
]

for (const [path, place] of places)
  test(`the place of ${path} has that path`, () => {
    assert.deepEqual(parseRoute(path), place)
    assert.equal(routePath(place), path)
  })

test('the start leads on', () => {
  assert.deepEqual(parseRoute('/'), { at: 'start' })
})

test('an organization without a section, or with one that there is not, shows its overview', () => {
  for (const path of ['/organizations/1', '/organizations/1/', '/organizations/1/toString'])
    assert.deepEqual(parseRoute(path), { at: 'organization', organizationId: '1', section: 'overview' })
})
