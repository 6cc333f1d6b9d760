import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import { mayGoByBrowser, newPlaceOf, placesAfter } from '../delivery.ts'

const server = 'A'.repeat(43)
const other = 'B'.repeat(42) + 'A'
const callback = 'https://notes.example/callback'
const placesOf = (recipient: string | null, ...redirects: string[]): AppKeyPlaces => ({
  consentedAt: '2030-01-01T12:00:00.000Z',
  recipient,
  redirects,
})

test('APK-12 a confirmation changes what the user was shown, not what another tab has stored meanwhile', () => {
  const destination = { target: 'https://notes.example/new', recipient: server, binds: true }
  const seen = placesOf(server, callback)
  const shown = newPlaceOf([seen], destination)
  assert.ok(shown?.redirect && !shown.recipient)
  const released = placesAfter(placesOf(null, callback), shown, destination)
  assert.deepEqual(released, placesOf(null, callback, destination.target), 'the key stays released')
  assert.deepEqual(newPlaceOf([released], destination), { recipient: { before: null, now: server } }, 'asked then')

  const rebinding = { target: callback, recipient: other, binds: true }
  const changed = newPlaceOf([seen], rebinding)
  assert.ok(changed?.recipient && !changed.redirect)
  const moved = placesAfter(placesOf(server, 'https://notes.example/new'), changed, rebinding)
  assert.deepEqual(moved, placesOf(other, 'https://notes.example/new'), 'a removed address stays removed')
  assert.deepEqual(placesAfter(seen, { ...shown, ...changed }, { ...destination, recipient: other }), {
    ...placesOf(other, callback, destination.target),
  })
})

test('FED-28 a key goes by the dialog to a page of an origin where the app has received it, and to no other', () => {
  const places = placesOf(server, 'https://notes.example:8443/callback', 'com.example.notes:/callback')
  assert.ok(mayGoByBrowser(places, server, 'https://notes.example:8443'))
  for (const origin of ['https://notes.example', 'http://notes.example:8443', 'https://evil.example', 'null', '', null])
    assert.equal(mayGoByBrowser(places, server, origin), false, String(origin))
  assert.equal(mayGoByBrowser(places, other, 'https://notes.example:8443'), false)
})

test('FED-29 a loopback page gets its key by the dialog, whatever its port is', () => {
  const places = placesOf(server, 'http://127.0.0.1/callback')
  assert.ok(mayGoByBrowser(places, server, 'http://127.0.0.1:4711'))
  for (const origin of ['http://[::1]:4711', 'https://127.0.0.1', 'http://127.0.0.2:4711', 'http://localhost:4711'])
    assert.equal(mayGoByBrowser(places, server, origin), false, origin)
})
