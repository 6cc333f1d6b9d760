import { asId, type OrganizationId } from '@countersign/protocol/ids'
import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'
import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'

const flowId = '00000000-0000-4000-8000-000000000000'
const arrival: PendingSsoLogin = {
  purpose: 'login',
  organization: { id: asId<OrganizationId>(flowId), name: 'Analytical Engines & Söhne GmbH', logoUrl: null },
  subject: '00u1a2b3c4d5e6f7g8h9',
  email: 'ada.lovelace@analytical-engines.example',
  emailVerified: true,
  displayName: 'Ada Lovelace',
  mayJoin: true,
  signIn: null,
}

/** Visits the pages of SSO users. There is no provider here: the page gets a response as if one had answered. */
export async function visitEnterprisePages(person: Person, { authUrl }: Served, look: (name: string) => Promise<void>) {
  const { page } = person
  await page.goto(`${authUrl}/sso`)
  await person.write('email', 'ada')
  await person.press('sso')
  await look('sso-find')
  await page.goto(`${authUrl}/sso/link?flow=made-up`)
  await look('sso-over')

  const respond = (said: Partial<PendingSsoLogin>) =>
    page.route('**/api/sso/arrivals/*', (route) =>
      route.fulfill({
        json: { ...arrival, ...said },
        headers: { 'access-control-allow-origin': authUrl, 'access-control-allow-credentials': 'true' },
      }),
    )
  for (const [name, said] of Object.entries<Partial<PendingSsoLogin>>({
    connect: {},
    'members-only': { mayJoin: false, emailVerified: false },
    tested: { purpose: 'test', emailVerified: false },
  })) {
    await respond(said)
    await page.goto(`${authUrl}/sso/link?flow=${flowId}`)
    await page.getByText(arrival.email ?? '').waitFor()
    await look(`sso-${name}`)
    await page.unroute('**/api/sso/arrivals/*')
  }

  const identity = { displayName: 'Mallory Malicious-Featherstonehaugh', handle: 'mallory' }
  const victim = { displayName: 'Ada Lovelace', handle: 'ada' }
  for (const [name, replaces] of Object.entries({ confirm: null, 'confirm-other': victim })) {
    await respond({ signIn: { identity, replaces } })
    await page.goto(`${authUrl}/sso/confirm?flow=${flowId}`)
    await person.control('confirm-sign-in').waitFor()
    await look(`sso-${name}`)
    await page.unroute('**/api/sso/arrivals/*')
  }
}
