import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { reencryptWebhookSecrets } from '#clients/webhooks/secret.ts'
import { reencryptOrganizationKeys } from '#organizations/keys/custody.ts'
import { createKeyring, type Keyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { reencryptEncryptionKeys } from '#sso/connections/encryption-key.ts'
import { reencryptClientSecrets } from '#sso/connections/settings.ts'
import { openEnterprise } from '#testing/enterprise.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'

const secretKey = 'a-secret-key-for-tests-of-32-characters'
const tasks = {
  'client secrets': reencryptClientSecrets,
  'SAML keys': reencryptEncryptionKeys,
  'organization keys': reencryptOrganizationKeys,
  'webhook secrets': reencryptWebhookSecrets,
}

test('SUP-07 re-encryption fetches no secrets that are under the present SECRET_KEY', async (t) => {
  const enterprise = await openEnterprise({ secretKey, environment: { DATA_DIR: tmpdir() } })
  t.after(() => enterprise.close())
  const { world } = enterprise
  const idp = await startSamlProvider(world.now)
  t.after(() => idp.close())
  const acme = await enterprise.organization(await world.person())
  const fresh = { headers: await acme.owner.signIn() }
  const path = `/${acme.organizationId}`
  await enterprise.connect(acme)
  const saml = { name: 'Acme SAML', saml: { metadataUrl: idp.metadataUrl } }
  const { connection } = (await enterprise.send(fresh, 'POST', `${path}/sso-connections`, saml)).json()
  await enterprise.send(fresh, 'POST', `${path}/sso-connections/${connection.connectionId}/encryption-key`)
  await enterprise.send(fresh, 'POST', `${path}/keys`, {})
  const url = `/api/admin/apps/${(await world.app()).clientId}/webhook`
  const payload = { url: 'https://app.example/hook' }
  await world.api.inject({ method: 'PUT', url, headers: world.admin, payload })

  /** Runs the tasks with these root keys, and returns how many texts each of them decided about. */
  async function turnOf(...roots: [string, ...string[]]) {
    const keyring = createKeyring(roots.map((root) => new Secret(root)))
    const counts: Record<string, number> = {}
    for (const [what, task] of Object.entries(tasks)) {
      counts[what] = 0
      const renew: Keyring['renew'] = (context, sealed) => {
        counts[what] = (counts[what] ?? 0) + 1
        return keyring.renew(context, sealed)
      }
      await task({ db: world.db, keyring: { ...keyring, renew } })
    }
    return counts
  }
  const each = (count: number) => Object.fromEntries(Object.keys(tasks).map((what) => [what, count]))
  const next = 'another-secret-key-of-this-test-32-characters'
  assert.deepEqual(await turnOf(secretKey), each(0))
  assert.deepEqual(await turnOf(next, secretKey), each(1))
  assert.deepEqual(await turnOf(next), each(0))
  assert.deepEqual(await turnOf(secretKey, next), each(1))
})
