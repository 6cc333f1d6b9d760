import type { Answer } from '@countersign/protocol/api'
import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'

type Place = { service: Served; shop: string }

/** Makes an organization of the person who is signed in; answers its id. */
export async function foundOrganization(
  { context }: Person,
  { authUrl, baseUrl, businessUrl }: Served,
  name: string,
): Promise<string> {
  const headers = { origin: authUrl }
  const session = await context.request.get(`${baseUrl}/api/auth/session`, { headers })
  const { identities }: Answer<'GET /api/auth/session'> = await session.json()
  const data = { name, identityId: identities[0]?.identityId }
  const made = await context.request.post(`${businessUrl}/api/organizations`, { headers, data })
  const { organization }: Answer<'POST /api/organizations'> = await made.json()
  return organization.id
}

/** Past what the sign-in page asks of somebody who may use the app for an organization. */
export async function walkOrganizationChoice(
  person: Person,
  { service, shop }: Place,
  look: (name: string) => Promise<void>,
) {
  const { page } = person
  await page.goto(`${service.authUrl}/account`)
  const id = await foundOrganization(person, service, 'Analytical Engines & Söhne GmbH')
  await foundOrganization(person, service, 'Royal Astronomical Society')
  const { identities } = await person.ask(service.baseUrl, 'GET /api/auth/session')
  const asked = `${shop}/sign-in?identity_id=${identities[0]?.identityId}&organization_id`
  await page.goto(`${asked}=select`)
  await person.control('choose-organization').first().waitFor()
  await look('signin-choose-organization')
  await person.control('choose-organization').first().click()
  await person.control('approve').waitFor()
  await look('signin-consent-organization')
  await page.goto(`${asked}=00000000-0000-4000-8000-000000000000`)
  await person.control('choose-organization').first().waitFor()
  await look('signin-no-such-organization')

  // The provider of an organization is not here: the page is told that there is one.
  await page.route('**/api/oauth/authorization/**', async (route) => {
    const response = await route.fetch()
    const read: Answer<'GET /api/oauth/authorization/:clientId'> = await response.json()
    const loginUrl = `${service.baseUrl}/api/sso/00000000-0000-4000-8000-000000000000/start`
    const organizations = read.organizations?.map((each) => ({ ...each, loginUrl }))
    await route.fulfill({ response, json: { ...read, organizations } })
  })
  await page.goto(`${asked}=${id}`)
  await person.control('sign-in-there').waitFor()
  await look('signin-with-organization')
  await person.press('change')
  await person.control('choose-organization').first().waitFor()
  await look('signin-choose-organization-with-sign-in')
  await page.unroute('**/api/oauth/authorization/**')
}
