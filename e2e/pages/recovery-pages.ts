import type { ResponseOf } from '@countersign/protocol/api'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import type { Route } from 'playwright-core'
import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'

const linkId = '00000000-0000-4000-8000-000000000000'
const validFrom = '2099-11-28T09:00:00.000Z'

/** Visits the pages of a recovery. No operator is here: the pages get answers as if one had mailed a link. */
export async function visitRecoveryPages(
  person: Person,
  { authUrl, baseUrl }: Served,
  look: (name: string) => Promise<void>,
) {
  const { page } = person
  const answer = (json: object) => (route: Route) =>
    route.fulfill({
      json,
      headers: { 'access-control-allow-origin': authUrl, 'access-control-allow-credentials': 'true' },
    })
  const kept = await person.authenticator.credentials()
  await page.goto(`${authUrl}/recover/link`)
  await page.locator('main .lead').waitFor()
  await look('recover-link-incomplete')
  await page.route('**/api/recovery-links/redemption/start', answer(startedAt(authUrl)))
  await page.route('**/api/recovery-links/redemption/finish', answer({ validFrom, keysStayClosed: true }))
  await page.goto(`${authUrl}/recover/link#cs_rl_made-up`)
  await person.control('create-passkey').waitFor()
  await look('recover-link')
  await person.press('create-passkey')
  await person.control('create-passkey').waitFor({ state: 'detached' })
  await look('recover-link-done')
  await person.authenticator.exchange({ prf: true })
  await person.authenticator.take(kept)
  await page.route('**/api/recovery-links/stop', answer({}))
  await page.goto(`${authUrl}/recover/stop#cs_rs_made-up`)
  await person.control('stop-recovery').waitFor()
  await look('recover-stop')
  await person.press('stop-recovery')
  await person.control('stop-recovery').waitFor({ state: 'detached' })
  await look('recover-stop-done')
  await page.unroute('**/api/recovery-links/**')

  const { identities } = await person.call(baseUrl, 'GET /api/auth/session')
  const identityId = identities[0]?.identityId ?? asId<IdentityId>(linkId)
  const link = {
    recoveryLinkId: linkId,
    identityId,
    issuedAt: validFrom,
    expiresAt: validFrom,
  } as const
  for (const state of ['issued', 'redeemed', 'completed'] as const) {
    const recoveryLinks = [{ ...link, state, completesAt: validFrom, holdUntil: validFrom }]
    await page.route(
      '**/api/account/recovery-links',
      answer({ recoveryLinks } satisfies ResponseOf<'GET /api/account/recovery-links'>),
    )
    await page.goto(`${authUrl}/account`)
    await person.control('stop-recovery').waitFor()
    await look(`account-recovery-${state}`)
    await page.unroute('**/api/account/recovery-links')
  }
  await visitKeyReset(person, authUrl, look)
  await page.route('**/api/auth/session', async (route) => {
    if (route.request().method() === 'OPTIONS') return route.continue()
    const response = await route.fetch()
    await route.fulfill({
      response,
      json: { ...(await response.json()), authMethod: 'recovered_passkey', holdUntil: validFrom },
    })
  })
  await page.goto(`${authUrl}/account`)
  await person.control('lift-limit').waitFor()
  await look('account-recovered')
  await person.press('lift-limit')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('account-recovered-invalid')
  await page.unroute('**/api/auth/session')
}

/** Visits the steps of new keys, as if a recovery had brought the passkey. Nothing is sent before the last one. */
async function visitKeyReset(person: Person, authUrl: string, look: (name: string) => Promise<void>) {
  const { page } = person
  await page.route('**/api/auth/passkeys', async (route) => {
    if (route.request().method() === 'OPTIONS') return route.continue()
    const response = await route.fetch()
    const { passkeys }: ResponseOf<'GET /api/auth/passkeys'> = await response.json()
    const locked = passkeys.map((passkey) => ({ ...passkey, opensKeys: false, mayResetKeys: true }))
    await route.fulfill({ response, json: { passkeys: locked } })
  })
  await page.goto(`${authUrl}/account`)
  await person.control('next-task').waitFor()
  await look('account-keys-locked')
  await page.goto(`${authUrl}/account/security`)
  await person.control('ask-reset-keys').waitFor()
  await look('security-keys-locked')
  await person.press('ask-reset-keys')
  await look('reset-keys')
  await person.press('reset-keys')
  await person.control('confirm-recovery-saved').waitFor()
  await look('reset-keys-code')
  await person.press('cancel')
  await person.control('ask-reset-keys').waitFor()
  await page.unroute('**/api/auth/passkeys')
}

/** What the service answers first: the options of a passkey for an identity with a long name. */
function startedAt(authUrl: string): ResponseOf<'POST /api/recovery-links/redemption/start'> {
  const handle = 'ada-lovelace-of-the-analytical-engine'
  return {
    ...{ flowId: linkId, handle },
    options: {
      rp: { id: new URL(authUrl).hostname, name: 'Countersign' },
      user: { id: 'AAECAwQFBgcICQoLDA0ODw', name: handle, displayName: 'Ada Lovelace' },
      challenge: 'AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwNDg8',
      pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key' as const, alg })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      extensions: { credProps: true, prf: { eval: { first: 'AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwNDg8' } } },
      excludeCredentials: [],
      timeout: 300_000,
      attestation: 'none',
    },
  }
}
