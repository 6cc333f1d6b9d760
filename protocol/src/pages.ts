import type { EncryptionMode } from './oauth/app-keys.ts'
import type { PublicApp } from './clients/apps.ts'
import type { RegistrationMode } from './operations/settings.ts'
import type { PublicInvitation } from './organizations/invitations.ts'
import type { CommunicationMode } from './oauth/delegations.ts'
import type { ClientId } from './ids.ts'
import type { RecipientKey } from './formats/encryption/recipient-key.ts'
import type { RequirableClaim } from './formats/required-claims.ts'

/** Pages of the operator to which the footer of every page links. */
export type BrandLinks = { terms?: string; privacy?: string; imprint?: string; support?: string; status?: string }

/** How the operator presents the service: on every page and in mail. */
export type Brand = {
  name: string
  /** URL of the logo: a square picture of this service. */
  logoUrl?: string
  /** Color of the operator, `#rrggbb`. A stylesheet of the page's head applies it. */
  accent?: string
  links: BrandLinks
}

/**
 * Data that the server writes into a page as inert JSON (`<script type="application/json" id="view">`): enough to
 * render it at once without layout shifts.
 */
export type Site = {
  baseUrl: string
  authUrl: string
  businessUrl: string
  relyingPartyId: string
  demo: boolean
  /** Who may create an account. */
  registration: RegistrationMode
  /** True if users may register their own apps. */
  developers: boolean
  /** True if this service can send mail. */
  mail: boolean
  /** True if mails are not sent, but shown at `/dev/mail` of the auth host to the developer who runs this service. */
  devMail: boolean
  brand: Brand
}

/** Values of `prompt` that an app may send (OpenID Connect Core §3.1.2.1). */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account'

/** Reason why a silent request ends without a code (OpenID Connect Core §3.1.2.6). */
export type SilentRedirect =
  | 'login_required'
  | 'account_selection_required'
  | 'consent_required'
  | 'interaction_required'
  | 'access_denied'

/**
 * Answer to the app: the browser goes to the URL, or posts the `fields` there as a form (OAuth 2.0 Form Post Response
 * Mode).
 */
export type AuthorizationResponse = { url: string; fields?: Record<string, string> }

/**
 * App key to deliver to an app with end-to-end encryption: its mode, whether it replaces the current one, and the
 * recipient key; without a recipient the key is delivered unencrypted.
 */
export type AppKeyRequest = { mode: EncryptionMode; reset: boolean; recipient?: RecipientKey }

/** Reason why an app cannot act at a resource: the resource or one of its scopes is gone since the page was shown. */
export type ConnectorUnavailableReason = 'invalid_target' | 'invalid_scope'

/**
 * Requested delegation: the resource of the other app, the scopes, and that app's description of each (which may be
 * missing).
 */
export type Connector = {
  resourceId: string
  resourceKey: string
  displayName: string
  description: string | null
  audience: string
  owner: { clientId: ClientId; name: string; iconUrl: string | null; websiteUrl: string | null }
  scopes: { scope: string; description: string }[]
  mode: CommunicationMode
  /** Answer to the app if nothing remains to consent to. */
  withdrawn: Record<ConnectorUnavailableReason, AuthorizationResponse>
}

/**
 * App that is not registered here, known only by the host of its client ID; its name is unverified. `onDevice` if the
 * answer goes to a program on the user's device, which any program there could impersonate.
 */
export type UnverifiedClient = { host: string; onDevice: boolean }

/**
 * Authorization request that the server has checked. `scope` lists the requested and allowed scopes, in the requested
 * order.
 */
export type SignInView = {
  page: 'signin'
  site: Site
  app: PublicApp
  unverified?: UnverifiedClient
  /** Origin of the app's page that gets the answer from the browser (FedCM). */
  givenTo?: string
  redirectUri: string
  scope: string[]
  state?: string
  nonce?: string
  codeChallenge?: string
  key?: AppKeyRequest
  connector?: Connector
  /** Access to the user's organizations that the app requests; omitted if it requests none. */
  organizationAccess?: 'read' | 'create'
  /** Claims that the app requires for a sign-in; omitted if there are none. */
  requiredClaims?: RequirableClaim[]
  /** True if any program on the device may receive the answer, so that no earlier consent counts. */
  asksAnew?: true
  /** ID of the organization for which the app is used, or `select` if the user is to choose. */
  organization?: string
  /**
   * Reference of a stored request: one that the app has pushed, or that requires a passkey use. Parameters private to
   * the app are omitted here.
   */
  requestUri?: string
  identityId?: string
  loginHint?: string
  prompts: Prompt[]
  /** Maximum time since the user's authentication, in seconds. */
  maxAgeSeconds?: number
  /** Languages that the app prefers, most preferred first. */
  languages: string[]
  formPost: boolean
  /** Answer to the app if the user denies: `access_denied`, with `state` and `iss`. */
  denied: AuthorizationResponse
  /** Answers to the app if `prompts` contains `none` and the user would have to be asked. */
  silently?: Record<SilentRedirect, AuthorizationResponse>
}

/**
 * Answer to the app that the server has decided. It is sent at once; for an unverified app, the browser leaves only by
 * a click (RFC 9700 §4.11.2).
 */
export type ReturnView = { page: 'return'; site: Site; leaving: AuthorizationResponse; unverified?: UnverifiedFault }

/** Error of an unverified app's request: the host of its client ID, and the error for its developer. */
export type UnverifiedFault = { host: string; error: string; description?: string }

/**
 * SSO sign-in that a page of another site has started, for a URL that the organization has not verified: the browser
 * goes there only by a click (RFC 9700 §4.11.2).
 */
export type ProviderView = { page: 'return'; site: Site; leaving: { url: string }; organization: string }

/** Destination after a sign-out. An unregistered URI is ignored: the user stays on this page. */
export type PostLogoutRedirect = { at: 'app'; url: string } | { at: 'here'; refused: boolean }

/** Logout request (OpenID Connect RP-Initiated Logout §2) that the server has checked. */
export type LogoutView = {
  page: 'logout'
  site: Site
  languages: string[]
  /** ID token hint, by which the API can tell whether the user must be asked. */
  idTokenHint?: string
  after: PostLogoutRedirect
}

/** Signing page. It loads the text itself, because only the signer may see it. */
export type SignView = {
  page: 'sign'
  site: Site
  requestId: string
  embedded: boolean
  /** Origins whose pages may show this one in a frame: those of the app's redirect URIs. */
  framedBy: string[]
  /**
   * Time at which the server rendered this page: the remaining time is counted from it, whatever the device's clock
   * says.
   */
  servedAt: string
}

/** End of a FedCM window. The fragment contains the result; with `fault` the window shows the error. */
export type FederatedView = { page: 'fedcm'; site: Site; fault?: string }

/** Error page if there is no app to return to. */
export type ErrorView = {
  page: 'error'
  site: Site
  error: string
  description: string
  requestId: string
  /** Number of seconds after which to try again, of the header `Retry-After`. */
  retryAfterSeconds?: number
  /** Invalid values that an app sent: shown as text for its developer. */
  sent?: { clientId: string; redirectUri: string }
  /** Registered app that sent them. Its website is the registered one. */
  app?: { name: string; websiteUrl: string | null }
}

export type PlaygroundView = {
  page: 'playground'
  site: Site
  clientId: ClientId
  redirectUri: string
  issuer: string
  /** Resource of another demonstration app, at which the playground acts for a user. */
  calendar: { resourceKey: string; audience: string; scope: string }
  /** App that gets a key of the user, for end-to-end encryption. */
  notes: { clientId: ClientId }
}

/**
 * App that the user came from. An app that is not registered here is named by the host of its client ID, which is then
 * omitted.
 */
export type RequestingApp = { clientId?: string; name: string; iconUrl: string | null }

/**
 * Page before a sign-in. `app` is set if the user continues to an app afterwards, `invitation` if they continue to a
 * pending invitation.
 */
export type EntryView = {
  page: 'register' | 'login' | 'recover'
  site: Site
  app?: RequestingApp
  invitation?: Pick<PublicInvitation, 'organization' | 'role'>
  /** True if the fragment is a setup link. */
  setup?: true
}

export type StaticView = {
  page:
    | 'landing'
    | 'design'
    | 'account'
    | 'admin'
    | 'developers'
    | 'sso'
    | 'business'
    | 'organization-keys'
    | 'receipt'
    | 'recover-link'
    | 'act'
    | 'dev-mail'
  site: Site
}

export type PageView =
  | SignInView
  | ReturnView
  | ProviderView
  | LogoutView
  | SignView
  | ErrorView
  | FederatedView
  | PlaygroundView
  | EntryView
  | StaticView
export type PageName = PageView['page']
