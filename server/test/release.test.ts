import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, mock, test } from 'node:test'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { isConsistent } from '@countersign/protocol/formats/signing/merkle-tree'
import type { AuditChainState } from '@countersign/protocol/operations/audit'
import { nodeSuite, verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import { Webhook } from 'standardwebhooks'
import { startSender } from '#clients/webhooks/sender.ts'
import manifest from '#package.json' with { type: 'json' }
import { createAuthenticator, type SavedCredential } from '#testing/authenticator.ts'
import { exchangeGrant } from '#testing/connectors.ts'
import { scimPatch } from '#testing/enterprise.ts'
import { asPage } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { answersOf, signingPairOf, signingRequesterOf } from '#testing/signer.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { appOf, personOf, postForm, postToken, type TestWorld } from '#testing/world.ts'
import { hashMigration, listReleases, openRelease, readRelease, type Release } from '#testing/releases/release.ts'

const releases = await listReleases()

test('each release of the changelog has its data, and this version is the newest of them or later', async () => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  const dated = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/gm)].map(([, version]) => version)
  assert.deepEqual(dated.toReversed(), releases)
  assert.ok(changelog.includes('\n## Unreleased\n') || dated[0] === manifest.version)
})

for (const version of releases)
  describe(`SUP-09 STO-45 the data of ${version}`, () => {
    let release: Release
    let world: TestWorld
    before(async () => {
      release = await readRelease(version)
      world = await openRelease(release)
    })
    after(() => world.close())

    type Saved = Omit<Parameters<typeof personOf>[1], 'authenticator'> & { credential: SavedCredential }
    const personFrom = ({ credential, ...registered }: Saved) => {
      const place = { origin: world.config.authUrl.origin, rpId: world.config.relyingPartyId }
      return personOf(world.api, { ...registered, authenticator: createAuthenticator(place, 'ES256', credential) })
    }
    const get = async (url: string, headers: Record<string, string> = {}, host = world.api) => {
      const answer = await host.inject({ url, headers })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer
    }

    test('has the migrations that were released', async () => {
      for (const [name, hash] of Object.entries(release.migrations))
        assert.equal(await hashMigration(name), hash, `${name} was released and changed afterwards. Add a migration.`)
    })

    test('sessions, passkeys, codes and tokens are valid, and keys are kept', async () => {
      const { user } = release.users
      const [person, app] = [personFrom(user), appOf(world.api, user.app)]
      const session = await get('/api/auth/session', person.headers)
      assert.equal(session.json().user.userId, user.userId)
      const again = await person.signIn()
      const userinfo = await get('/api/oauth/userinfo', { authorization: `Bearer ${user.accessToken}` })
      assert.equal(userinfo.json().sub, user.identityId)
      const redeemed = await app.redeem(user.code)
      assert.equal(redeemed.statusCode, 200, redeemed.body)
      const refreshed = await app.refresh(user.refreshToken)
      assert.equal(refreshed.statusCode, 200, refreshed.body)
      assert.equal((await app.tokens({ ...person, headers: again })).token_type, 'Bearer')
      const { authorizations } = (await get('/api/oauth/authorizations', person.headers)).json()
      assert.equal(authorizations[0].encryptedAppKey, user.appKey)
      const { keyWraps } = (await get('/api/account/key-wraps', person.headers)).json()
      const { kind, credentialId, ciphertext } = keyWraps[0]
      assert.deepEqual({ kind, credentialId, ciphertext }, user.keyWrap)
    })

    test('a receipt remains valid, and a request that was pending is signed', async () => {
      const { signer } = release.users
      const person = personFrom(signer)
      const keySet = (await get('/api/transparency/jwks')).json()
      const issued = await get(`/api/signing/requests/${signer.signed}/receipt`, person.headers)
      for (const receipt of [signer.receipt, issued.body])
        assert.ok('receipt' in verifyReceipt(receipt, { payload: 'Pay 10 €', keySet }))
      const signed = await answersOf(world, person).sign(
        signer.pending,
        signingPairOf(signer.privateKey).sign('Pay 10 €'),
      )
      assert.equal(signed.statusCode, 200, signed.body)
      const status = await signingRequesterOf(world, appOf(world.api, signer.app)).status(signer.pending)
      assert.equal(status.json().status, 'signed')
    })

    test('a delegation continues', async () => {
      const { connector } = release.users
      const [source, target] = [appOf(world.api, connector.source), appOf(world.api, connector.target)]
      const known = await postForm(world.api, '/api/oauth/introspect', {
        ...target.credentials,
        token: connector.accessToken,
      })
      assert.equal(known.json().active, true, known.body)
      const exchanged = await postToken(world.api, {
        grant_type: exchangeGrant,
        subject_token: connector.subjectToken,
        resource: connector.resourceKey,
        ...source.credentials,
      })
      assert.equal(exchanged.statusCode, 200, exchanged.body)
    })

    test('an organization is managed by its owner', async () => {
      const { owner, organizationId } = release.users.organization
      const { headers } = personFrom(owner)
      const { organizations } = (await get('/api/account/organizations', headers)).json()
      assert.equal(organizations[0].id, organizationId)
      const { members } = (await get(`/api/organizations/${organizationId}/members`, headers, world.business)).json()
      assert.deepEqual([members.length, members[0].role], [1, 'owner'])
    })

    test('a webhook is signed with its secret', async (t) => {
      const { app, secret } = release.users.webhook
      const receiver = await startWebhookReceiver()
      t.after(receiver.close)
      const url = `/api/admin/apps/${app.clientId}/webhook`
      const { admin: headers } = world
      const moved = await world.api.inject({ method: 'PUT', url, headers, payload: { url: receiver.url } })
      assert.equal(moved.statusCode, 200, moved.body)
      const tested = await world.api.inject({ method: 'POST', url: `${url}/test`, headers })
      assert.ok(tested.statusCode < 300, tested.body)
      const sender = startSender(world.kernel)
      t.after(() => sender.stop())
      const [received] = await receiver.has(1)
      assert.ok(received)
      mock.timers.enable({ apis: ['Date'], now: world.now() })
      t.after(() => mock.timers.reset())
      assert.ok(new Webhook(secret).verify(received.body, received.headers))
    })

    test('an operator has their role, a directory its users and groups, and an invitation is accepted', async () => {
      const { operator, directory, invited } = release.users
      const page = asPage(world, personFrom(operator).sessionToken)
      const { identities } = (await get('/api/admin/identities?q=ada-lovelace', page)).json()
      assert.equal(identities[0].handle, 'ada-lovelace')

      const headers = { authorization: `Bearer ${directory.token}`, 'content-type': 'application/scim+json' }
      const user = (await get(`/scim/v2/Users/${directory.userId}`, headers)).json()
      assert.equal(user.userName, directory.userName)
      const payload = JSON.stringify(scimPatch({ op: 'replace', path: 'displayName', value: 'A. M. Turing' }))
      const url = `/scim/v2/Users/${directory.userId}`
      const changed = await world.api.inject({ method: 'PATCH', url, headers, payload })
      assert.equal(changed.json().displayName, 'A. M. Turing', changed.body)
      const groups = (await get('/scim/v2/Groups', headers)).json().Resources
      assert.deepEqual([groups[0].displayName, groups[0].members.length], ['Hut 8', 1])

      const accepted = await register(world, { invitation: invited.token }, invited.names)
      assert.deepEqual([accepted.error, accepted.identity?.identityId], [undefined, invited.identityId])
    })

    test('the audit log is unbroken, and the log of keys continues from a checkpoint of a monitor', async () => {
      let checked = 0
      for (let from: string | null = '1'; from !== null;) {
        const url: string = `/api/admin/audit/verify?from=${from}&limit=1000`
        const state: AuditChainState = (await get(url, world.admin)).json()
        assert.equal(state.broken, null)
        checked += state.checked
        from = state.next
      }
      assert.ok(checked > 900)
      world.pass(120)
      const { origin, keys } = (await get('/api/transparency/jwks')).json()
      const key = { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
      const open = (note: string) =>
        verifyCheckpoint(nodeSuite, note, key) ?? assert.fail('the checkpoint is not signed')
      const [kept, head] = [open(release.users.log.checkpoint), open((await get('/api/transparency/checkpoint')).body)]
      assert.ok(head.size > kept.size)
      const proof = (await get(`/api/transparency/consistency?from=${kept.size}&to=${head.size}`)).json()
      const hashes = proof.hashes.map((hash: string) => fromCanonicalBase64(hash) ?? assert.fail())
      assert.ok(isConsistent(nodeSuite.sha256, { from: kept, to: head, hashes }))
    })
  })
