import type { Static, TSchema } from 'typebox'
import type * as account from './accounts/account.ts'
import type * as accountInvitations from './accounts/invitations.ts'
import type * as adminTokens from './accounts/admin-tokens.ts'
import type * as appKeys from './oauth/app-keys.ts'
import type * as apps from './clients/apps.ts'
import type * as audit from './operations/audit.ts'
import type * as authorizations from './oauth/authorizations.ts'
import type * as claims from './clients/claims.ts'
import type * as backup from './operations/backup.ts'
import type * as delegations from './oauth/delegations.ts'
import type * as deviceApprovals from './accounts/device-approvals.ts'
import type * as developer from './clients/developer.ts'
import type { EndpointsOf } from './endpoint.ts'
import type * as fedcm from './oauth/fedcm.ts'
import type * as health from './operations/health.ts'
import type * as registrationEmail from './accounts/registration/email.ts'
import type * as groups from './accounts/groups.ts'
import type { WithPlainIds } from './ids.ts'
import type * as identities from './accounts/identities.ts'
import type * as keys from './accounts/keys.ts'
import type * as oauth from './oauth/authorize.ts'
import type * as operations from './operations.ts'
import type * as people from './operations/people.ts'
import type * as playground from './operations/playground.ts'
import type * as operators from './accounts/operators.ts'
import type * as organizationActs from './organizations/acts.ts'
import type * as organizationCouncil from './organizations/council.ts'
import type * as organizationDomains from './organizations/domains.ts'
import type * as organizationKeys from './organizations/keys.ts'
import type * as organizationPictures from './organizations/pictures.ts'
import type * as organizationProposals from './organizations/proposals.ts'
import type * as organizationOversight from './organizations/operator-view.ts'
import type * as invitations from './organizations/invitations.ts'
import type * as organizations from './organizations/organizations.ts'
import type * as passkeys from './accounts/passkeys.ts'
import type * as organizationDocuments from './signing/organization-documents.ts'
import type * as pendingSigning from './signing/pending-signing.ts'
import type * as pictures from './pictures.ts'
import type * as pushedRequests from './oauth/pushed-requests.ts'
import type * as receipts from './signing/receipts.ts'
import type * as resources from './clients/resources.ts'
import type * as roles from './clients/roles.ts'
import type * as sessions from './accounts/sessions.ts'
import type * as configuration from './operations/configuration.ts'
import type * as settings from './operations/settings.ts'
import type * as keyReset from './signing/key-reset.ts'
import type * as signingKeys from './signing/keys.ts'
import type * as signing from './signing/signing.ts'
import type * as suspension from './accounts/suspension.ts'
import type * as identityDeletion from './accounts/deletion.ts'
import type * as recoveryLinks from './accounts/recovery/links.ts'
import type * as serviceWebhooks from './clients/service-webhooks.ts'
import type * as scimTokens from './operations/scim-tokens.ts'
import type * as sinks from './operations/sinks.ts'
import type * as sso from './organizations/sso.ts'
import type * as tokenKeys from './oauth/token-keys.ts'
import type * as transparency from './signing/transparency.ts'
import type * as webhooks from './clients/webhooks.ts'

type All =
  | EndpointsOf<typeof account>
  | EndpointsOf<typeof accountInvitations>
  | EndpointsOf<typeof adminTokens>
  | EndpointsOf<typeof appKeys>
  | EndpointsOf<typeof apps>
  | EndpointsOf<typeof audit>
  | EndpointsOf<typeof serviceWebhooks>
  | EndpointsOf<typeof scimTokens>
  | EndpointsOf<typeof sinks>
  | EndpointsOf<typeof authorizations>
  | EndpointsOf<typeof backup>
  | EndpointsOf<typeof claims>
  | EndpointsOf<typeof delegations>
  | EndpointsOf<typeof developer>
  | EndpointsOf<typeof deviceApprovals>
  | EndpointsOf<typeof fedcm>
  | EndpointsOf<typeof registrationEmail>
  | EndpointsOf<typeof groups>
  | EndpointsOf<typeof health>
  | EndpointsOf<typeof identities>
  | EndpointsOf<typeof keys>
  | EndpointsOf<typeof oauth>
  | EndpointsOf<typeof operations>
  | EndpointsOf<typeof people>
  | EndpointsOf<typeof operators>
  | EndpointsOf<typeof organizationActs>
  | EndpointsOf<typeof organizationCouncil>
  | EndpointsOf<typeof organizationDocuments>
  | EndpointsOf<typeof organizationDomains>
  | EndpointsOf<typeof organizationKeys>
  | EndpointsOf<typeof organizationOversight>
  | EndpointsOf<typeof organizationPictures>
  | EndpointsOf<typeof organizationProposals>
  | EndpointsOf<typeof invitations>
  | EndpointsOf<typeof organizations>
  | EndpointsOf<typeof passkeys>
  | EndpointsOf<typeof playground>
  | EndpointsOf<typeof pendingSigning>
  | EndpointsOf<typeof pictures>
  | EndpointsOf<typeof pushedRequests>
  | EndpointsOf<typeof receipts>
  | EndpointsOf<typeof resources>
  | EndpointsOf<typeof roles>
  | EndpointsOf<typeof sessions>
  | EndpointsOf<typeof configuration>
  | EndpointsOf<typeof settings>
  | EndpointsOf<typeof signing>
  | EndpointsOf<typeof keyReset>
  | EndpointsOf<typeof signingKeys>
  | EndpointsOf<typeof suspension>
  | EndpointsOf<typeof identityDeletion>
  | EndpointsOf<typeof recoveryLinks>
  | EndpointsOf<typeof sso>
  | EndpointsOf<typeof tokenKeys>
  | EndpointsOf<typeof transparency>
  | EndpointsOf<typeof webhooks>

/** Every endpoint, by method and path. A type only, which adds no code to the caller's bundle. */
export type Api = { [E in All as E['name']]: E }

type Part = 'params' | 'querystring' | 'headers' | 'body'
type StaticOf<S> = S extends TSchema ? Static<S> : never

/**
 * Request of an endpoint: exactly the parts that the endpoint has. Its IDs are plain text, because callers have them
 * from a URL or a form as well as from responses, and the server validates them.
 */
export type RequestOf<Name extends keyof Api> = {
  [K in keyof Api[Name]['schema'] & Part]: WithPlainIds<StaticOf<Api[Name]['schema'][K]>>
}

/** Response of an endpoint on success. */
export type ResponseOf<Name extends keyof Api> = StaticOf<
  Api[Name]['schema']['response'][keyof Api[Name]['schema']['response']]
>
