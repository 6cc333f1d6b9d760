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

/** Replaces a key while a request waits. */
export async function walkSigningKeys(
  { page, ...person }: Person,
  { handle, service }: Signer,
  look: Look,
): Promise<void> {
  await page.goto(`${service.authUrl}/account/signing`)
  await page.locator('.fingerprint:not(.blank)').first().waitFor()
  await page.locator('.history .entry').first().waitFor()
  await look('account-signing')
  await askForDemonstration(service, handle)
  await page.goto(`${service.authUrl}/account/signing`)
  await page.locator('nav .count').waitFor()
  await page.locator('.fingerprint:not(.blank)').first().waitFor()
  await look('account-signing-waiting')
  await person.press('replace-key')
  await person.control('unlock').waitFor()
  await look('account-replace-key')
  await person.press('unlock')
  await page.locator('details:has(.fingerprint)').click()
  await page.locator('.history .entry').first().waitFor()
  await look('account-former-keys')
}
