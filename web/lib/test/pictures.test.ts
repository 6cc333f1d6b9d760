import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPictureOf } from '../pictures.ts'

const host = 'https://api.example.com'
const uploaded = `${host}/pictures/3f1c9a2b-7d54-4e0a-9b1f-0c2d6e8a4b13`

test('PIC-13 a page loads only pictures by their ID, and no other address of the service', () => {
  assert.ok(isPictureOf(host, uploaded))
  const others = [
    ...[`${uploaded}/64`, `${uploaded}?`, `${uploaded}#`, `${uploaded}/../../api/auth/session`, `${host}/pictures/`],
    ...[`${host}/pictures/../api/auth/session`, `${host}/pictures/%2e%2e/api/auth/session`, `${host}/pictures/logo`],
    uploaded.replace('api.', 'pictures.'),
  ]
  for (const address of others) assert.equal(isPictureOf(host, address), false, address)
})
