import type { SsoArrival } from '@countersign/protocol/organizations/sso'
import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'

const flowId = '00000000-0000-4000-8000-000000000000'
const arrival: SsoArrival = {
  purpose: 'sign in',
  organization: { name: 'Analytical Engines & Söhne GmbH', logoUrl: null },
  subject: '00u1a2b3c4d5e6f7g8h9',
  email: 'ada.lovelace@analytical-engines.example',
  emailVerified: true,
  displayName: 'Ada Lovelace',
  mayJoin: true,
  signIn: null,
}

/** Past the pages of those who sign in with their organization. No provider is here: the page is told what one said. */
export async function walkEnterprise(person: Person, { authUrl }: Served, look: (name: string) => Promise<void>) {
  const { page } = person
  await page.goto(`${authUrl}/sso`)
  await person.write('email', 'ada')
  await person.press('sso')
  await look('sso-find')
  await page.goto(`${authUrl}/sso/link?flow=made-up`)
  await look('sso-over')

  const tell = (said: Partial<SsoArrival>) =>
    page.route('**/api/sso/arrivals/*', (route) =>
      route.fulfill({
        json: { ...arrival, ...said },
        headers: { 'access-control-allow-origin': authUrl, 'access-control-allow-credentials': 'true' },
      }),
    )
  for (const [name, said] of Object.entries<Partial<SsoArrival>>({
    connect: {},
    'members-only': { mayJoin: false, emailVerified: false },
    tested: { purpose: 'test', emailVerified: false },
  })) {
    await tell(said)
    await page.goto(`${authUrl}/sso/link?flow=${flowId}`)
    await page.getByText(arrival.email ?? '').waitFor()
    await look(`sso-${name}`)
    await page.unroute('**/api/sso/arrivals/*')
  }

  const identity = { displayName: 'Mallory Malicious-Featherstonehaugh', handle: 'mallory' }
  const victim = { displayName: 'Ada Lovelace', handle: 'ada' }
  for (const [name, replaces] of Object.entries({ confirm: null, 'confirm-other': victim })) {
    await tell({ signIn: { identity, replaces } })
    await page.goto(`${authUrl}/sso/confirm?flow=${flowId}`)
    await person.control('confirm-sign-in').waitFor()
    await look(`sso-${name}`)
    await page.unroute('**/api/sso/arrivals/*')
  }
}
