import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isPlainOrigin } from '#platform/origin.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { pagePolicy } from '#platform/http/security-headers.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { isAllowedClientIdUrl } from '#clients/registration/metadata-documents/metadata-document.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const hostile = [
  'https://x;sandbox/cb',
  'https://x,y/cb',
  "https://x'none'/cb",
  'https://x;sandbox:8443/cb',
  'https://x*y/cb',
]

const create = (payload: object) =>
  world.api.inject({
    ...{ method: 'POST', url: '/api/admin/apps', headers: world.admin },
    payload: { name: 'Shop', redirectUris: ['https://shop.example/cb'], ...payload },
  })

test('SIG-33 a URI whose host could inject into a header cannot be registered', async () => {
  for (const uri of hostile) {
    for (const [field, value] of Object.entries({
      redirectUris: [uri],
      postLogoutRedirectUris: [uri],
      websiteUrl: uri,
      iconUrl: uri,
      backchannelLogoutUri: uri,
    })) {
      const answer = await create({ [field]: value })
      assert.equal(answer.statusCode, 400, `${field} ${uri}: ${answer.body}`)
    }
    assert.equal(isAllowedClientIdUrl(uri, world.config), false, uri)
    assert.notEqual(createOutboundClient(world.config).objectionTo(uri), undefined, uri)
  }
  for (const uri of ['https://a-b.c_d.example:8443/cb', 'https://[2001:db8::1]/cb', 'https://192.0.2.1/cb'])
    assert.equal((await create({ redirectUris: [uri] })).statusCode, 201, uri)
})

test('SIG-33 a URI that was registered earlier adds nothing to a header and allows no framing', async () => {
  const app = await world.app({ redirectUris: ['https://shop.example/cb', 'https://other.example/cb'] })
  const redirectUris = ['https://x;sandbox/cb', 'https://other.example/cb']
  const stored = world.db.updateTable('app').set({ redirect_uris: redirectUris })
  await stored.where('client_id', '=', app.clientId).execute()
  const { identityId } = await createSigner(world)
  const { requestId } = (await signingRequesterOf(world, app).request(identityId)).json<{ requestId: string }>()
  const shown = await world.auth.inject({
    ...{ url: `/sign?requestId=${requestId}&embed=1`, headers: { accept: 'text/html' } },
  })
  assert.equal(shown.statusCode, 200)
  const policy = String(shown.headers['content-security-policy'])
  assert.match(policy, /; frame-ancestors https:\/\/other\.example; base-uri 'none'$/)
})

const ours = { asks: [], pictures: new URL('http://localhost:4400') }

test('SIG-33 text that is not an origin is never written into a header', () => {
  for (const uri of [...hostile.map((each) => each.replace(/\/cb$/, '')), 'null', '*', "'self'", 'https://a/', '']) {
    assert.equal(isPlainOrigin(uri), false, uri)
    assert.throws(() => pagePolicy({ ...ours, postsForms: false, framedBy: [uri] }), /header value is not an origin/)
  }
  assert.match(pagePolicy({ ...ours, postsForms: false, framedBy: ['https://a.example:8443'] }), /a\.example:8443;/)
})
