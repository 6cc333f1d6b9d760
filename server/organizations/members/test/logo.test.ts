import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { OfferedPicture } from '@countersign/protocol/organizations/pictures'
import { limits } from '@countersign/protocol/formats/limits'
import { actorOf } from '#testing/actor.ts'
import { businessRequest, createOrganization, join, reauthenticate } from '#testing/organization.ts'
import { pngOf } from '#testing/pictures.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const upload = (person: Pick<Person, 'headers'>, id: string, picture = pngOf(200, 100)) =>
  businessRequest(world, person, `POST /organizations/${id}/pictures`, picture)

async function offered(person: Person, id: string, picture?: Buffer): Promise<OfferedPicture> {
  const answer = await upload(person, id, picture)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().picture
}

const read = (url: string) => world.api.inject({ url: new URL(url).pathname })
const bytesOf = async (url: string) => (await read(`${url}/512`)).rawPayload

async function organizationOfSigner() {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const patch = (payload: object) => businessRequest(world, owner, `PATCH /organizations/${id}`, payload)
  return { owner, id, patch, actor: actorOf(world, owner) }
}

test('an uploaded picture becomes the logo, in place of the one before', async () => {
  const { owner, id, patch } = await organizationOfSigner()
  const first = await offered(owner, id)
  const digest = createHash('sha256')
    .update(await bytesOf(first.url))
    .digest('hex')
  assert.equal(first.sha256, digest)
  const set = await patch({ logoUrl: first.url, logoSha256: first.sha256 })
  assert.equal(set.json<{ organization: OwnOrganization }>().organization.logoUrl, first.url)
  // What is in use stays, however long ago it was uploaded.
  world.pass(limits.offeredPictureLifetimeSeconds)
  assert.equal((await read(first.url)).statusCode, 200)
  await reauthenticate(world, owner)

  const second = await offered(owner, id, pngOf(64, 64))
  assert.equal((await patch({ logoUrl: second.url, logoSha256: second.sha256, name: 'Acme AG' })).statusCode, 200)
  assert.deepEqual([(await read(first.url)).statusCode, (await read(second.url)).statusCode], [404, 200])
  assert.equal((await patch({ logoUrl: 'https://acme.example/logo.png' })).statusCode, 200)
  assert.equal((await read(second.url)).statusCode, 404)
})

test('PIC-12 a signed act names the SHA-256 of the picture, and another picture does not replace it', async () => {
  const { owner, id, patch, actor } = await organizationOfSigner()
  assert.equal((await actor.act(`PATCH /organizations/${id}`, { requireSignedActions: true })).statusCode, 200)
  const { url: logoUrl, sha256: logoSha256 } = await offered(owner, id)
  const unsigned = await patch({ logoUrl, logoSha256 })
  assert.deepEqual([unsigned.statusCode, unsigned.json().error], [403, 'signed_action_required'])
  for (const other of [{}, { logoSha256: '0'.repeat(64) }]) {
    const tried = await patch({ logoUrl, ...other, signedAction: {} })
    assert.deepEqual([tried.statusCode, tried.json().error], [409, 'picture_changed'])
  }
  const started = await actor.start(`PATCH /organizations/${id}`, { logoUrl, logoSha256 })
  assert.ok(JSON.stringify(started).includes(logoSha256))
  const done = await actor.do(started)
  assert.equal(done.statusCode, 200, done.body)
  assert.equal((await read(logoUrl)).statusCode, 200)
})

test('PIC-11 PIC-13 who manages an organization uploads for it, and only its pictures become its logo', async () => {
  const [acme, other] = [await organizationOfSigner(), await organizationOfSigner()]
  const member = await world.person()
  await join(world, { id: acme.id, owner: acme.owner, role: 'member' }, member)
  assert.deepEqual((await upload(member, acme.id)).statusCode, 403)
  assert.deepEqual((await upload(other.owner, acme.id)).statusCode, 404)
  const theirs = await offered(other.owner, other.id)
  const taken = await acme.patch({ logoUrl: theirs.url, logoSha256: theirs.sha256 })
  assert.deepEqual([taken.statusCode, taken.json().error], [404, 'picture_not_found'])
  const digestAlone = await acme.patch({ logoUrl: 'https://acme.example/logo.png', logoSha256: theirs.sha256 })
  assert.deepEqual([digestAlone.statusCode, digestAlone.json().error], [400, 'invalid_request'])
})

test('PIC-12 PIC-13 another URL of an uploaded picture, which names no digest, does not become the logo', async () => {
  const hosted = await createWorld({
    environment: {
      ...{ BASE_URL: 'https://api.example.com', AUTH_URL: 'https://id.example.com', ALLOW_EMBEDDED: '1' },
      ...{ BUSINESS_URL: 'https://business.example.com', TRUST_PROXY: 'off' },
    },
  })
  try {
    const owner = await createSigner(hosted)
    const { id } = await createOrganization(hosted, owner)
    const uploaded = await businessRequest(hosted, owner, `POST /organizations/${id}/pictures`, pngOf(64, 64))
    const { url } = uploaded.json().picture
    for (const logoUrl of [`${url}?`, `${url}/512`, url.toUpperCase(), url.replace('/pictures/', '/x/../pictures/')]) {
      const set = await businessRequest(hosted, owner, `PATCH /organizations/${id}`, { logoUrl })
      assert.deepEqual([set.statusCode, set.json().error], [400, 'invalid_request'], logoUrl)
    }
  } finally {
    await hosted.close()
  }
})

test('PIC-09 unused pictures end, and all of them with the organization', async () => {
  const { owner, id, patch } = await organizationOfSigner()
  const all: OfferedPicture[] = []
  for (let nth = 0; nth <= limits.offeredPicturesMax; nth += 1) {
    world.pass(1)
    all.push(await offered(owner, id, pngOf(64, 64)))
  }
  const [oldest, second] = all
  const latest = all.at(-1)
  assert.ok(oldest && second && latest)
  assert.deepEqual([(await read(oldest.url)).statusCode, (await read(second.url)).statusCode], [404, 200])
  assert.equal((await patch({ logoUrl: latest.url, logoSha256: latest.sha256 })).statusCode, 200)
  world.pass(limits.offeredPictureLifetimeSeconds)
  assert.deepEqual([(await read(second.url)).statusCode, (await read(latest.url)).statusCode], [404, 200])
  await reauthenticate(world, owner)
  const late = await patch({ logoUrl: second.url, logoSha256: second.sha256 })
  assert.deepEqual([late.statusCode, late.json().error], [404, 'picture_not_found'])

  const gone = await organizationOfSigner()
  const kept = await offered(gone.owner, gone.id)
  assert.equal((await gone.patch({ logoUrl: kept.url, logoSha256: kept.sha256 })).statusCode, 200)
  const deleted = await businessRequest(world, gone.owner, `DELETE /organizations/${gone.id}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal((await read(kept.url)).statusCode, 404)
})
