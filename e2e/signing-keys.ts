import type { Served } from '../server/testing/service.ts'
import type { Person } from './person.ts'

type Signer = { handle: string; service: Served }
type Look = (name: string) => Promise<void>

/** Asks a person for the signature of a demonstration; answers which request that is. */
export async function askForDemonstration({ baseUrl }: Served, handle: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/signing/demo/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ handle, payload: 'Pay 10 €' }),
  })
  const { requestId } = JSON.parse(await answer.text())
  return requestId
}

/** So many apps ask a person three times each, at length. */
export async function askAtLength({ baseUrl, admin }: Served, person: Person, apps: number): Promise<void> {
  const { identities } = await person.ask(baseUrl, 'GET /api/auth/session')
  const identityId = identities[0]?.identityId
  const post = async (path: string, body: object) => {
    const headers = { ...admin, 'content-type': 'application/json' }
    const answer = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} answered ${await answer.text()}`)
    return JSON.parse(await answer.text())
  }
  for (let nth = 1; nth <= apps; nth += 1) {
    const { clientId, clientSecret } = await post('/api/admin/apps', {
      name: `Stranger ${nth}`,
      redirectUris: ['https://stranger.example/callback'],
    })
    for (let time = 0; time < 3; time += 1)
      await post('/api/signing/request', { clientId, clientSecret, identityId, payload: '😀'.repeat(10_000) })
  }
}

/** Replaces a key while requests wait. */
export async function walkSigningKeys(visitor: Person, { handle, service }: Signer, look: Look): Promise<void> {
  const { page, ...person } = visitor
  await page.goto(`${service.authUrl}/account/signing`)
  await page.locator('.fingerprint:not(.blank)').first().waitFor()
  await page.locator('.history .entry').first().waitFor()
  await look('account-signing')
  await askForDemonstration(service, handle)
  await page.goto(`${service.authUrl}/account/signing`)
  await page.locator('nav .count').waitFor()
  await page.locator('.fingerprint:not(.blank)').first().waitFor()
  await look('account-signing-waiting')
  await askAtLength(service, visitor, 7)
  await person.control('more-requests').waitFor()
  await look('account-signing-more')
  await person.press('replace-key')
  await person.control('unlock').waitFor()
  await look('account-replace-key')
  await person.press('unlock')
  await page.locator('details:has(.fingerprint)').click()
  await page.locator('.history .entry').first().waitFor()
  await look('account-former-keys')
}
