import type { ResponseOf } from '@countersign/protocol/api'
import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'

type TestSite = { service: Served; shop: string }

/** Creates an organization of the signed-in user; returns its id. */
export async function foundOrganization(
  { context }: Person,
  { authUrl, baseUrl, businessUrl }: Served,
  name: string,
): Promise<string> {
  const headers = { origin: authUrl }
  const session = await context.request.get(`${baseUrl}/api/auth/session`, { headers })
  const { identities }: ResponseOf<'GET /api/auth/session'> = await session.json()
  const data = { name, identityId: identities[0]?.identityId }
  const made = await context.request.post(`${businessUrl}/api/organizations`, { headers, data })
  const { organization }: ResponseOf<'POST /api/organizations'> = await made.json()
  return organization.id
}

/** Visits every step of the sign-in page for a user who may use the app for an organization. */
export async function visitOrganizationChoice(
  person: Person,
  { service, shop }: TestSite,
  look: (name: string) => Promise<void>,
) {
  const { page } = person
  await page.goto(`${service.authUrl}/account`)
  const id = await foundOrganization(person, service, 'Analytical Engines & Söhne GmbH')
  await foundOrganization(person, service, 'Royal Astronomical Society')
  const { identities } = await person.call(service.baseUrl, 'GET /api/auth/session')
  const signInUrl = `${shop}/sign-in?identity_id=${identities[0]?.identityId}&organization_id`
  await page.goto(`${signInUrl}=select`)
  await person.control('choose-organization').first().waitFor()
  await look('signin-choose-organization')
  await person.control('choose-organization').first().click()
  await person.control('approve').waitFor()
  await look('signin-consent-organization')
  await page.goto(`${signInUrl}=00000000-0000-4000-8000-000000000000`)
  await person.control('choose-organization').first().waitFor()
  await look('signin-no-such-organization')

  // There is no provider of an organization: the response to the page contains one.
  await page.route('**/api/oauth/authorization/**', async (route) => {
    // The service may close an idle connection at the moment of its reuse.
    const response = await route.fetch({ maxRetries: 1 })
    const read: ResponseOf<'GET /api/oauth/authorization/:clientId'> = await response.json()
    const loginUrl = `${service.baseUrl}/api/sso/00000000-0000-4000-8000-000000000000/start`
    const organizations = read.organizations?.map((each) => ({ ...each, loginUrl }))
    await route.fulfill({ response, json: { ...read, organizations } })
  })
  await page.goto(`${signInUrl}=${id}`)
  await person.control('sign-in-there').waitFor()
  await look('signin-with-organization')
  await person.press('change')
  await person.control('choose-organization').first().waitFor()
  await look('signin-choose-organization-with-sign-in')
  await page.unroute('**/api/oauth/authorization/**')
}
