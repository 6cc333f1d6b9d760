import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf, placeOf, type Place } from '../places.ts'

const places: Place[] = [{ at: 'list' }, { at: 'new' }, { at: 'app', clientId: 'app_0123' }]
for (const place of places)
  test(`${pathOf(place)} leads where it says`, () => assert.deepEqual(placeOf(pathOf(place)), place))

for (const path of ['/developers/', '/developers/apps', '/developers/apps/', '/developers/toString'])
  test(`${path} shows the list`, () => assert.deepEqual(placeOf(path), { at: 'list' }))
