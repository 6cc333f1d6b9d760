import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { limits } from '@countersign/protocol/formats/limits'
import { jpeg, pngChunk, pngHead, pngOf } from '#testing/pictures.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { readPictureHeader } from '../header.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DEVELOPER_PORTAL: 'on' } })
})
after(() => world.close())

const upload = (person: Pick<Person, 'headers'>, identityId: string, payload: Buffer, type = 'image/png') =>
  world.api.inject({
    method: 'PUT',
    url: `/api/identities/${identityId}/avatar`,
    headers: { ...person.headers, 'content-type': type },
    payload,
  })

async function uploadedUrl(person: Person, payload = pngOf(200, 200)): Promise<string> {
  const answer = await upload(person, person.identityId, payload)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Identity>().avatarUrl ?? ''
}

const read = (url: string) => world.api.inject({ url: new URL(url).pathname })

test('an uploaded picture becomes avatarUrl and the claim picture, in three sizes', async () => {
  const person = await world.person()
  const url = await uploadedUrl(person, pngOf(300, 200))
  assert.match(url, /^http:\/\/localhost:4400\/pictures\/[\da-f-]{36}$/)
  for (const [path, side] of [
    [url, 256],
    ...[64, 256, 512].map((size) => [`${url}/${size}`, size] as const),
  ] as const) {
    const answer = await read(path)
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'image/webp'])
    assert.deepEqual(readPictureHeader(answer.rawPayload), {
      format: 'webp',
      width: side,
      height: side,
      isAnimated: false,
    })
  }
  assert.equal((await read(`${url}/65`)).statusCode, 404)
  const app = await world.app()
  const { access_token } = await app.tokens(person)
  const userinfo = await world.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(userinfo.json().picture, url)
})

test('JPEG and WebP are accepted too', async () => {
  const person = await world.person()
  assert.deepEqual(readPictureHeader(jpeg), { format: 'jpeg', width: 96, height: 64, isAnimated: false })
  const { rawPayload } = await read(`${await uploadedUrl(person, jpeg)}/512`)
  const again = await read(`${await uploadedUrl(person, rawPayload)}/512`)
  assert.equal(readPictureHeader(again.rawPayload)?.width, 512)
})

test('a new picture and a removal delete the one before, and the export has the current one', async () => {
  const person = await world.person()
  const first = await uploadedUrl(person)
  const second = await uploadedUrl(person)
  assert.notEqual(first, second)
  assert.deepEqual([(await read(first)).statusCode, (await read(second)).statusCode], [404, 200])
  const exported = await world.api.inject({ url: '/api/account/export', headers: person.headers })
  const [identity] = exported.json().identities
  const bytes = Buffer.from(identity.picture.base64, 'base64')
  assert.deepEqual(bytes, (await read(`${second}/512`)).rawPayload)

  const url = `/api/identities/${person.identityId}/avatar`
  const removed = await world.api.inject({ method: 'DELETE', url, headers: person.headers })
  assert.deepEqual([removed.statusCode, removed.json<Identity>().avatarUrl], [200, null])
  assert.equal((await read(second)).statusCode, 404)

  const third = await uploadedUrl(person)
  const elsewhere = { avatarUrl: 'https://pictures.example/ada.png' }
  const identityUrl = `/api/identities/${person.identityId}`
  const replaced = { method: 'PATCH', url: identityUrl, headers: person.headers, payload: elsewhere } as const
  assert.equal((await world.api.inject(replaced)).statusCode, 200)
  assert.equal((await read(third)).statusCode, 404)
})

test('PIC-01 a picture that claims a huge size is rejected before it is decoded', async () => {
  const person = await world.person()
  const before = process.cpuUsage()
  for (const [width, height] of [
    [65_535, 65_535],
    [4097, 1],
    [1, 2 ** 31 - 1],
    [0, 100],
  ] as const) {
    const answer = await upload(person, person.identityId, pngHead(width, height))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_picture'])
  }
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 1_000_000, `${user + system} µs of processor time`)
  const tooLong = await upload(person, person.identityId, Buffer.alloc(limits.pictureBytesMax + 1))
  assert.deepEqual([tooLong.statusCode, tooLong.json().error], [413, 'payload_too_large'])
  assert.match(tooLong.json().error_description, /2 MiB|2048 KiB/)
})

test('PIC-02 a truncated or damaged picture is rejected, and the next one is accepted', async () => {
  const person = await world.person()
  const sound = pngOf(200, 200)
  const damaged = Buffer.from(sound)
  damaged.fill(0xff, 60, 90)
  for (const payload of [sound.subarray(0, 40), sound.subarray(0, sound.length - 40), damaged]) {
    const answer = await upload(person, person.identityId, payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_picture'])
  }
  await uploadedUrl(person)
})

test('PIC-03 documents and other formats are rejected, whatever type they are sent as', async () => {
  const person = await world.person()
  const documents = ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', '<script>alert(1)</script>', '{}']
  for (const type of ['image/png', 'image/svg+xml', 'text/html', 'application/json'])
    for (const text of [...documents, 'GIF89a', ''].map((each) => Buffer.from(each))) {
      const answer = await upload(person, person.identityId, text, type)
      assert.deepEqual([answer.statusCode, answer.json().error], [415, 'unsupported_media_type'], `${type}: ${text}`)
    }
})

test('PIC-03 PIC-08 a picture with a document or place in it is served as its pixels alone', async () => {
  const person = await world.person()
  const marker = '<script>GPS 48.2 N</script>'
  const text = pngChunk('tEXt', Buffer.from(`Comment\0${marker}`))
  const exif = pngChunk('eXIf', Buffer.from(`II*\0${marker}`))
  const url = await uploadedUrl(person, Buffer.concat([pngOf(100, 100, { chunks: [text, exif] }), Buffer.from(marker)]))
  for (const size of [64, 256, 512]) {
    const { rawPayload } = await read(`${url}/${size}`)
    assert.ok(!rawPayload.includes('GPS') && !rawPayload.includes('script'))
    assert.ok(!rawPayload.includes('EXIF') && !rawPayload.includes('ICCP'))
  }
})

test('PIC-04 an animated WebP is rejected, and of an animated PNG the first picture is kept', async () => {
  const person = await world.person()
  const extended = Buffer.alloc(40)
  extended.write('RIFF', 0, 'latin1')
  extended.writeUInt32LE(32, 4)
  extended.write('WEBPVP8X', 8, 'latin1')
  extended.writeUInt32LE(10, 16)
  extended[20] = 0x02
  extended.writeUIntLE(99, 24, 3)
  extended.writeUIntLE(99, 27, 3)
  const animated = await upload(person, person.identityId, extended)
  assert.deepEqual([animated.statusCode, animated.json().error], [400, 'invalid_picture'])
  assert.match(animated.json().error_description, /animated/)

  const control = Buffer.alloc(8)
  control.writeUInt32BE(1, 0)
  const apng = pngOf(100, 100, { chunks: [pngChunk('acTL', control)] })
  assert.equal(readPictureHeader(apng)?.isAnimated, true)
  const url = await uploadedUrl(person, apng)
  assert.equal(readPictureHeader((await read(url)).rawPayload)?.isAnimated, false)
})

test('PIC-07 identities with the same picture have IDs that nothing connects', async () => {
  const person = await world.person()
  const payload = { handle: `also-${randomUUID().slice(0, 8)}`, displayName: 'Also' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  const picture = pngOf(120, 120)
  const one = await uploadedUrl(person, picture)
  const other = await upload(person, made.json<Identity>().identityId, picture)
  const ids = [one, other.json<Identity>().avatarUrl ?? ''].map((url) => url.split('/').at(-1) ?? '')
  assert.notEqual(ids[0], ids[1])
  // Random (RFC 9562, version 4), and not made of the picture, the time or an ID of the user.
  for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
})

test('PIC-09 pictures end with their identity, account and app', async () => {
  const person = await world.person()
  const payload = { handle: `gone-${randomUUID().slice(0, 8)}`, displayName: 'Gone' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  const { identityId } = made.json<Identity>()
  const ofIdentity = (await upload(person, identityId, pngOf(64, 64))).json<Identity>().avatarUrl ?? ''
  const ofAccount = await uploadedUrl(person)
  const settings = { name: 'Mine', redirectUris: ['https://mine.example/cb'] }
  const registered = { method: 'POST', url: '/api/developer/apps', headers: person.headers, payload: settings } as const
  const { clientId } = (await world.api.inject(registered)).json()
  const url = `/api/developer/apps/${clientId}/icon`
  const icon = await world.api.inject({ method: 'PUT', url, headers: person.headers, payload: pngOf(64, 64) })
  assert.equal(icon.statusCode, 200, icon.body)
  const ofApp: string = icon.json().iconUrl
  for (const each of [ofIdentity, ofAccount, ofApp]) assert.equal((await read(each)).statusCode, 200)

  const identityUrl = `/api/identities/${identityId}`
  const deleted = await world.api.inject({ method: 'DELETE', url: identityUrl, headers: person.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal((await read(ofIdentity)).statusCode, 404)
  const account = { method: 'DELETE', url: '/api/account?apps=delete', headers: person.headers } as const
  assert.equal((await world.api.inject(account)).statusCode, 204)
  assert.deepEqual([(await read(ofAccount)).statusCode, (await read(ofApp)).statusCode], [404, 404])
})

test('PIC-10 a picture is inert, cached for good, and readable by apps', async () => {
  const { headers } = await read(await uploadedUrl(await world.person()))
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox; frame-ancestors 'none'")
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(headers['access-control-allow-origin'], '*')
  assert.equal(headers['set-cookie'], undefined)
  const missing = await world.api.inject({ url: `/pictures/${randomUUID()}` })
  assert.deepEqual([missing.statusCode, missing.headers['cache-control']], [404, 'no-store'])
})

test('PIC-11 only its owner changes the picture of an identity or app', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const url = await uploadedUrl(ada)
  const tried = await upload(eve, ada.identityId, pngOf(64, 64))
  assert.deepEqual([tried.statusCode, tried.json().error], [404, 'identity_not_found'])
  assert.equal((await upload({ headers: { authorization: '' } }, ada.identityId, pngOf(64, 64))).statusCode, 401)
  const remove = { method: 'DELETE', url: `/api/identities/${ada.identityId}/avatar`, headers: eve.headers } as const
  assert.equal((await world.api.inject(remove)).statusCode, 404)
  const app = await world.app()
  for (const path of [`/api/developer/apps/${app.clientId}/icon`, `/api/admin/apps/${app.clientId}/icon`]) {
    const answer = await world.api.inject({ method: 'PUT', url: path, headers: eve.headers, payload: pngOf(64, 64) })
    assert.ok([401, 404].includes(answer.statusCode), answer.body)
  }
  assert.equal((await read(url)).statusCode, 200)
})

test('PIC-13 a URL of a picture that another owner has uploaded is not accepted', async () => {
  const hosted = await createWorld({ environment: publicUrls })
  try {
    const [ada, eve] = [await hosted.person(), await hosted.person()]
    const put = { method: 'PUT', url: `/api/identities/${ada.identityId}/avatar`, headers: ada.headers } as const
    const { avatarUrl } = (await hosted.api.inject({ ...put, payload: pngOf(64, 64) })).json<Identity>()
    const patch = { method: 'PATCH', url: `/api/identities/${eve.identityId}`, headers: eve.headers } as const
    assert.equal((await hosted.api.inject({ ...patch, payload: { avatarUrl } })).statusCode, 400)
    const settings = { name: 'Mine', redirectUris: ['https://mine.example/cb'], iconUrl: avatarUrl }
    const made = { method: 'POST', url: '/api/admin/apps', headers: hosted.admin, payload: settings } as const
    assert.equal((await hosted.api.inject(made)).statusCode, 400)
    for (const spelled of spellingsOf(avatarUrl ?? '')) {
      const shown = await hosted.api.inject({ ...patch, payload: { avatarUrl: spelled } })
      assert.equal(shown.statusCode, 400, spelled)
      assert.equal((await hosted.api.inject({ ...made, payload: { ...settings, iconUrl: spelled } })).statusCode, 400)
    }
    const own = { method: 'PATCH', url: `/api/identities/${ada.identityId}`, headers: ada.headers } as const
    const kept = await hosted.api.inject({ ...own, payload: { avatarUrl, displayName: 'Ada' } })
    assert.deepEqual([kept.statusCode, kept.json<Identity>().avatarUrl], [200, avatarUrl])
  } finally {
    await hosted.close()
  }
})

/** Other URLs of a picture, and of anything else that this service answers. */
const spellingsOf = (url: string) => [
  ...[`${url}/256`, `${url}?`, `${url}#`, url.toUpperCase(), url.replace('.com/', '.com:443/')],
  ...[url.replace('/pictures/', '/pictures/../pictures/'), url.replace('/pictures/', '/%70ictures/')],
  url.replace(/pictures.*/, 'pictures/../api/auth/session'),
]

const publicUrls = {
  ...{ BASE_URL: 'https://api.example.com', AUTH_URL: 'https://id.example.com', BUSINESS_URL: 'https://b.example.com' },
  ...{ ALLOW_EMBEDDED: '1', TRUST_PROXY: 'off' },
}

test('PIC-14 a user uploads thirty pictures an hour', async () => {
  const limited = await createWorld({ rateLimits: true })
  try {
    const person = await limited.person()
    const put = { method: 'PUT', url: `/api/identities/${person.identityId}/avatar`, headers: person.headers } as const
    const codes: number[] = []
    for (let nth = 0; nth < 31; nth += 1)
      codes.push((await limited.api.inject({ ...put, payload: Buffer.from('no picture') })).statusCode)
    assert.ok(codes.slice(0, 15).every((code) => code === 415))
    assert.equal(codes.at(-1), 429)
  } finally {
    await limited.close()
  }
})

test('PIC-18 an upload is counted before its body arrives: bodies that never do keep no places for long', async () => {
  const limited = await createWorld({ rateLimits: true })
  try {
    const person = await limited.person()
    const put = { method: 'PUT', url: `/api/identities/${person.identityId}/avatar`, headers: person.headers } as const
    const payload = Buffer.alloc(limits.pictureBytesMax + 1)
    const codes: number[] = []
    for (let nth = 0; nth < 31; nth += 1) codes.push((await limited.api.inject({ ...put, payload })).statusCode)
    assert.deepEqual([codes.at(0), codes.at(-1)], [413, 429])
  } finally {
    await limited.close()
  }
})

test('an app has a color and a logo, which its public metadata and its consent page name', async () => {
  const app = await world.app()
  const url = `/api/admin/apps/${app.clientId}`
  const headers = world.admin
  for (const color of ['red', '#12345', '#12345g', 'url(x)'])
    assert.equal((await world.api.inject({ method: 'PATCH', url, headers, payload: { color } })).statusCode, 400)
  const colored = await world.api.inject({ method: 'PATCH', url, headers, payload: { color: '#C0FFEE' } })
  assert.equal(colored.json().color, '#c0ffee')
  const drawn = await world.api.inject({ method: 'PUT', url: `${url}/icon`, headers, payload: pngOf(400, 100) })
  const { app: shown } = (await world.api.inject({ url: `/api/oauth/app/${app.clientId}` })).json()
  assert.deepEqual([shown.color, shown.iconUrl], ['#c0ffee', drawn.json().iconUrl])
  const cleared = await world.api.inject({ method: 'DELETE', url: `${url}/icon`, headers })
  assert.deepEqual([cleared.statusCode, cleared.json().iconUrl], [200, null])
})
