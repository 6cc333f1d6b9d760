import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  appKeyOf,
  parseAppKeyFragment,
  parseSealedFragment,
  formatAppKeyFragment,
  writeSealedFragment,
  type AppKey,
  type AppKeyDelivery,
  type FormerAppKey,
} from '../app-key-fragment.ts'

/** Bytes whose base64 contains every character that URLs encode. */
const awkward = Uint8Array.from(Buffer.from(`+/${'+/A9'.repeat(10)}+=`, 'base64'))

const newKey = (): AppKey => ({ mode: 'symmetric', key: Uint8Array.from(randomBytes(32)) })
const newPair = (type: 'x25519' | 'P-256'): AppKey => {
  const pair = type === 'x25519' ? generateKeyPairSync(type) : generateKeyPairSync('ec', { namedCurve: type })
  return {
    mode: 'asymmetric',
    privateKey: Uint8Array.from(pair.privateKey.export({ format: 'der', type: 'pkcs8' })),
    publicKey: Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' })),
  }
}
const formerOf = (key: AppKey): FormerAppKey =>
  key.mode === 'symmetric' ? key : { mode: 'asymmetric', privateKey: key.privateKey }

const kinds: Record<string, () => AppKey> = {
  'a symmetric key': newKey,
  'a pair of X25519': () => newPair('x25519'),
  'a pair of P-256': () => newPair('P-256'),
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind} is parsed from its fragment, also with the key that it replaced`, () => {
    for (let round = 0; round < 20; round += 1) {
      const appKey = make()
      const deliveries: AppKeyDelivery[] = [
        { appKey },
        ...Object.values(kinds).map((old) => ({ appKey, former: formerOf(old()) })),
      ]
      for (const delivery of deliveries) assert.deepEqual(parseAppKeyFragment(formatAppKeyFragment(delivery)), delivery)
    }
  })

  test(`the fragment of ${kind} is readable by any parser of form data`, () => {
    const appKey = make()
    const fields = new URLSearchParams(formatAppKeyFragment({ appKey, former: formerOf(appKey) }))
    const secret = appKey.mode === 'symmetric' ? appKey.key : appKey.privateKey
    assert.deepEqual(Object.fromEntries(fields), {
      app_key: Buffer.from(secret).toString('base64'),
      ...(appKey.mode === 'asymmetric' && { app_public_key: Buffer.from(appKey.publicKey).toString('base64') }),
      app_key_old: Buffer.from(secret).toString('base64'),
      app_key_reset: '1',
    })
  })

  test(`the fragment of ${kind} with one altered character is another key or invalid`, () => {
    const fragment = formatAppKeyFragment({ appKey: make(), former: newKey() })
    for (let place = 0; place < fragment.length; place += 1)
      for (const other of ['', ' ', '=', '&', '%', '+', 'é', fragment.charAt(place).repeat(2)]) {
        const altered = fragment.slice(0, place) + other + fragment.slice(place + 1)
        const delivery = parseAppKeyFragment(altered)
        if (delivery) assert.equal(formatAppKeyFragment(delivery), altered)
      }
  })
}

test('a fragment contains no character with another meaning in a URL', () => {
  const fragment = formatAppKeyFragment({ appKey: { mode: 'symmetric', key: awkward.slice(0, 32) } })
  assert.match(fragment, /^app_key=[A-Za-z0-9%]+$/)
  assert.equal(new URL(`https://app.example/callback#${fragment}`).hash, `#${fragment}`)
})

const key = formatAppKeyFragment({ appKey: newKey() })
const pair = formatAppKeyFragment({ appKey: newPair('x25519') })
const old = `app_key_old=${key.slice('app_key='.length)}`
const base64 = Buffer.from(awkward.slice(0, 32)).toString('base64')
const sized = (bytes: number) => `app_key=${encodeURIComponent(randomBytes(bytes).toString('base64'))}`
const [privateOfX = '', publicOfX = ''] = pair.split('&')
const [, publicOfP = ''] = formatAppKeyFragment({ appKey: newPair('P-256') }).split('&')

const refused: Record<string, string> = {
  nothing: '',
  'the sign before it': `#${key}`,
  'no key': 'app_key=',
  'a key of 16 bytes': sized(16),
  'a key of 31 bytes': sized(31),
  'a key of 33 bytes': sized(33),
  'two keys': `${key}&${key}`,
  'a second key that is empty': `${key}&app_key=`,
  'an unknown field': `${key}&app_key_new=1`,
  'an empty field': `${key}&`,
  'a field of the app': `tab=2&${key}`,
  'base64 as it is': `app_key=${base64}`,
  'escapes in lower case': `app_key=${encodeURIComponent(base64).replaceAll('%2B', '%2b')}`,
  'a letter escaped': key.replace('app_key', 'app%5Fkey'),
  'no padding': key.replace(/%3D$/, ''),
  base64url: `app_key=${Buffer.from(awkward.slice(0, 32)).toString('base64url')}`,
  'another case': key.replace('app_key', 'App_Key'),
  'a symmetric key with a public one': `${key}&${publicOfX}`,
  'a private key alone': privateOfX,
  'a public key alone': publicOfX,
  'the public key first': `${publicOfX}&${privateOfX}`,
  'a public key of another curve': `${privateOfX}&${publicOfP}`,
  'a public key in the place of the private one': publicOfX.replace('app_public_key', 'app_key'),
  'an old key that nothing announces': `${key}&${old}`,
  'a reset without the old key': `${key}&app_key_reset=1`,
  'a reset that is none': `${key}&${old}&app_key_reset=0`,
  'a reset twice': `${key}&${old}&app_key_reset=1&app_key_reset=1`,
  'an old key of another length': `${key}&${sized(31).replace('app_key', 'app_key_old')}&app_key_reset=1`,
  'the old key alone': `${old}&app_key_reset=1`,
  'a sealed fragment': 'app_key_jwe=e30....',
}
for (const [what, text] of Object.entries(refused)) {
  test(`a fragment with ${what} is rejected`, () => {
    assert.equal(parseAppKeyFragment(text), undefined)
  })
}

test('a sealed fragment contains a compact JWE and nothing else', () => {
  const jwe = 'eyJhIjoxfQ..aa_-.bw.cw'
  assert.equal(parseSealedFragment(writeSealedFragment(jwe)), jwe)
  for (const text of [
    '',
    'e30.',
    `${jwe}.`,
    `${jwe}=`,
    `${jwe} `,
    `${jwe}&x=1`,
    jwe.slice(0, -1),
    jwe.replace('.', '%2E'),
  ])
    assert.equal(parseSealedFragment(writeSealedFragment(text)), undefined, text)
  assert.equal(parseSealedFragment(key), undefined)
  assert.equal(parseSealedFragment(`${key}&${writeSealedFragment(jwe)}`), undefined)
})

test('bytes are a symmetric key by length, a private key by form, and otherwise neither', () => {
  assert.equal(appKeyOf(new Uint8Array(32))?.mode, 'symmetric')
  for (const length of [0, 16, 31, 33, 48, 64, 138]) assert.equal(appKeyOf(new Uint8Array(length)), undefined)
  const made = newPair('P-256')
  assert.equal(made.mode === 'asymmetric' && appKeyOf(made.privateKey)?.mode, 'asymmetric')
})
