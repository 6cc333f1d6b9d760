import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AdminRoute, parseRoute, routePath, sections } from '../routes.ts'

const places: AdminRoute[] = [
  ...sections.map((section) => ({ section, id: undefined, tab: undefined })),
  { section: 'people', id: '01890a5d-ac96-774b-bcce-b302099a8057', tab: 'activity' },
  { section: 'apps', id: 'https://agent.example/clients/100%.json?v=1', tab: undefined },
]
for (const place of places)
  test(`${routePath(place)} leads where it says`, () => {
    const { id, tab } = parseRoute(new URL(routePath(place), 'https://id.example').pathname)
    assert.deepEqual({ section: place.section, id, tab }, place)
  })

test('a path with a malformed escape is shown like one of an unknown ID', () =>
  assert.equal(parseRoute('/admin/apps/%E0%A4%A').id, '%E0%A4%A'))
