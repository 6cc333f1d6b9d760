import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appTabs, routePath, parseRoute, type DeveloperRoute } from '../routes.ts'

const places: DeveloperRoute[] = [
  { at: 'list' },
  { at: 'new' },
  ...appTabs.map((tab) => ({ at: 'app' as const, clientId: 'app_0123', tab })),
]
for (const place of places)
  test(`${routePath(place)} leads where it says`, () => assert.deepEqual(parseRoute(routePath(place)), place))

for (const path of ['/developers/', '/developers/apps', '/developers/apps/', '/developers/toString'])
  test(`${path} shows the list`, () => assert.deepEqual(parseRoute(path), { at: 'list' }))

test('an unknown tab shows the first one', () =>
  assert.deepEqual(parseRoute('/developers/apps/app_0123/toString'), {
    at: 'app',
    clientId: 'app_0123',
    tab: 'quickstart',
  }))
