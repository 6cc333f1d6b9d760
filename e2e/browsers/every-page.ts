import type { ResponseOf } from '@countersign/protocol/api'
import { councilOf } from '../../server/testing/council.ts'
import { businessOfService, foundRemoteOrganization } from '../../server/testing/remote-organization.ts'
import { ask, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { actPageUrl } from '../../web/lib/acts/returning.ts'
import { accountPageMessages as account } from '../../web/locales/en/pages/account.ts'
import { actMessages as acts } from '../../web/locales/en/pages/acts.ts'
import { adminMessages as admin } from '../../web/locales/en/pages/admin/console.ts'
import { businessMessages as business } from '../../web/locales/en/pages/business.ts'
import { devMailMessages as devMail } from '../../web/locales/en/pages/dev-mail.ts'
import { developerMessages } from '../../web/locales/en/pages/developers.ts'
import { fedcmMessages as fedcm } from '../../web/locales/en/pages/fedcm.ts'
import { landingMessages as landing } from '../../web/locales/en/pages/landing.ts'
import { organizationKeyMessages as keys } from '../../web/locales/en/pages/organization-keys.ts'
import { invitationMessages as invitations } from '../../web/locales/en/pages/organizations/invitation.ts'
import { playgroundMessages as playground } from '../../web/locales/en/pages/playground.ts'
import { receiptMessages as receipts } from '../../web/locales/en/pages/receipts.ts'
import { consentMessages as consent } from '../../web/locales/en/pages/sign-in/consent.ts'
import { errorMessages as errors } from '../../web/locales/en/pages/sign-in/error.ts'
import { logoutMessages as logout } from '../../web/locales/en/pages/sign-in/logout.ts'
import { recoverLinkMessages as recoverLink } from '../../web/locales/en/pages/sign-in/recover-link.ts'
import { recoverMessages as recover } from '../../web/locales/en/pages/sign-in/recover.ts'
import { ssoMessages as sso } from '../../web/locales/en/pages/sign-in/sso.ts'
import type { openStageWithoutBrowser } from '../fixtures/environment.ts'
import { words } from '../pages/words.ts'

export type Stage = Awaited<ReturnType<typeof openStageWithoutBrowser>>

/** The address of a page, and what its heading contains. */
export type ExpectedPage = [url: string, heading: string]

const payload = 'Pay 10 €'

/** Lists the pages that a visitor sees, also those that need a session: they lead to a sign-in. */
export function listPublicPages({ service, shop }: Stage): ExpectedPage[] {
  const { authUrl, baseUrl, businessUrl } = service
  return [
    [`${authUrl}/`, landing.title],
    [`${authUrl}/login`, words.login.title],
    [`${authUrl}/register`, words.register.title],
    [`${authUrl}/recover`, recover.title],
    [`${authUrl}/recover/link#made-up`, recoverLink.redeem.title],
    [`${authUrl}/recover/stop#made-up`, recoverLink.stop.title],
    [`${authUrl}/recover/stop`, recoverLink.incomplete],
    [`${authUrl}/sso`, sso.title],
    [`${authUrl}/sso/link?flow=made-up`, sso.over],
    [`${authUrl}/playground`, playground.heading],
    [`${authUrl}/verify`, receipts.verifyTitle],
    [`${authUrl}/logout`, logout.signedOut],
    [`${authUrl}/dev/mail`, devMail.title],
    [`${authUrl}/act`, words.sign.whoAreYou],
    [`${authUrl}/account`, words.login.title],
    [`${authUrl}/developers`, words.login.title],
    [`${authUrl}/admin`, words.login.title],
    [`${authUrl}/sign`, errors.titles.request_not_found],
    [`${authUrl}/signin?client_id=app_nobody`, errors.titles.invalid_client],
    [`${authUrl}/nowhere`, errors.titles.not_found],
    [`${shop.origin}/sign-in`, consent.signin.to],
    [`${authUrl}/help`, words.frame.help],
    [`${authUrl}/help/concepts`, 'Concepts'],
    [`${baseUrl}/docs`, 'API reference'],
    [`${baseUrl}/docs/organizations`, 'Organizations'],
    [`${baseUrl}/fedcm/resolve`, fedcm.over],
    [`${baseUrl}/fedcm/error?code=unauthorized_client`, fedcm.fault],
    [businessUrl, words.login.title],
    [`${businessUrl}/invitations/none`, invitations.over],
  ]
}

/**
 * Creates a user with an organization, an app, a pending and a signed request, and a change to sign. Returns the pages
 * of their account and of the consoles, and the token of their session.
 */
export async function createOwner({ service, shop }: Stage): Promise<{ token: string; pages: ExpectedPage[] }> {
  const { authUrl, baseUrl, businessUrl } = service
  const { owner, id } = await foundRemoteOrganization(service, { approvalsNeeded: 1, others: 1 })
  const { headers, identityId } = owner
  const { clientId, clientSecret } = await registerRemoteApp(service)
  const request = async () => {
    const json = { clientId, clientSecret, identityId, payload }
    return (await ask<ResponseOf<'POST /api/signing/request'>>(service, '/api/signing/request', { json })).requestId
  }
  const [signed, pending] = [await request(), await request()]
  await owner.sign(signed, payload)
  const { actId } = await councilOf(businessOfService(service), id).start(owner, 'PATCH', { name: 'Acme & Sons' })
  const act = actPageUrl(authUrl, { organizationId: id, actId, identityId }, `/organizations/${id}/settings`)
  await ask(service, '/api/admin/operators', { headers: service.admin, json: { handle: owner.handle, role: 'owner' } })
  const token = headers.authorization.replace('Bearer ', '')
  return {
    token,
    pages: [
      [`${authUrl}/account`, 'A signer'],
      ...Object.entries(accountSections).map(([name, heading]): ExpectedPage => [
        `${authUrl}/account/${name}`,
        heading,
      ]),
      [`${authUrl}/account/signing/receipts/${signed}`, receipts.title],
      [`${authUrl}/sign?requestId=${signed}`, words.sign.ends.signed],
      [`${authUrl}/sign?requestId=${pending}`, 'Paper Shop'],
      [act, acts.settings.name({ organization: 'Acme', what: '' }, 'Acme & Sons')],
      [`${authUrl}/organization-keys`, keys.nothing],
      [`${authUrl}/register`, words.recovery.missingTitle],
      [`${authUrl}/logout`, logout.question],
      [`${shop.origin}/sign-in`, consent.signin.to],
      ...(await developerPages(service, headers)),
      ...Object.entries(admin.sections).map(([name, heading]): ExpectedPage => [`${authUrl}/admin/${name}`, heading]),
      [`${businessUrl}/organizations`, business.title],
      [`${businessUrl}/organizations/new`, business.add],
      [`${businessUrl}/organizations/none`, business.unknown],
      ...Object.entries(business.sections).map(([name, heading]): ExpectedPage => [
        `${businessUrl}/organizations/${id}/${name}`,
        heading,
      ]),
      [`${authUrl}/`, 'A signer'],
      [`${baseUrl}/`, 'A signer'],
    ],
  }
}

/** The sections of the account by the end of their addresses, except for its start. */
const accountSections = {
  signing: words.signing.title,
  identities: words.identities.title,
  security: account.security.title,
  apps: words.account.apps,
  activity: words.activity.title,
  data: account.places.data,
}

type Owner = { authorization: string }

async function developerPages(service: Stage['service'], headers: Owner): Promise<ExpectedPage[]> {
  const json = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
  const made = await ask<ResponseOf<'POST /api/developer/apps'>>(service, '/api/developer/apps', { headers, json })
  const { title, newTitle, tabs } = developerMessages.developers
  const start = `${service.authUrl}/developers`
  return [
    [start, title],
    [`${start}/new`, newTitle],
    [`${start}/apps/${made.clientId}`, 'Ledger'],
    ...Object.keys(tabs).map((tab): ExpectedPage => [`${start}/apps/${made.clientId}/${tab}`, 'Ledger']),
  ]
}
