import type { EncryptionMode } from './oauth/app-keys.ts'
import type { PublicApp } from './clients/apps.ts'
import type { CommunicationMode } from './oauth/delegations.ts'
import type { RecipientKey } from './formats/encryption/recipient-key.ts'
import type { RequirableClaim } from './formats/required-claims.ts'

/**
 * What the server writes into a page as inert JSON (`<script type="application/json" id="view">`): enough to draw it
 * at once, so that nothing shifts.
 */
export type Site = {
  baseUrl: string
  authUrl: string
  businessUrl: string
  relyingPartyId: string
  demo: boolean
  /** Whether people may register apps of their own. */
  developers: boolean
  /** Whether this service can send mail. */
  mail: boolean
}

/** What an app may ask of the sign-in itself (OpenID Connect Core §3.1.2.1). */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account'

/** Why a request that may show nothing ends without a code (OpenID Connect Core §3.1.2.6). */
export type SilentEnd = 'login_required' | 'account_selection_required' | 'consent_required' | 'interaction_required'

/**
 * How the browser takes an answer to the app: it goes to the URL, or with `fields` it posts them there as a form (OAuth
 * 2.0 Form Post Response Mode).
 */
export type Leaving = { url: string; fields?: Record<string, string> }

/**
 * The key that an app with end-to-end encryption takes along: of which mode, whether instead of the present one, and
 * to whom it is sealed; where to nobody, it goes in clear.
 */
export type KeyDelivery = { mode: EncryptionMode; reset: boolean; recipient?: RecipientKey }

/** Why an app may not act at a resource after all: it is gone since the page was shown, or a scope of it is. */
export type Withdrawal = 'invalid_target' | 'invalid_scope'

/**
 * That the app wants to act at a resource of another app, which of its scopes it asks for, and in the words of that
 * app what each lets do (which may be none).
 */
export type Connector = {
  resourceId: string
  resourceKey: string
  displayName: string
  description: string | null
  audience: string
  owner: { clientId: string; name: string; iconUrl: string | null; websiteUrl: string | null }
  scopes: { scope: string; description: string }[]
  mode: CommunicationMode
  /** Where the browser goes where there is nothing left to agree to. */
  withdrawn: Record<Withdrawal, Leaving>
}

/**
 * An app that nobody has registered here, known by the host of its client id alone: its name is what it says itself.
 * `onDevice` where the answer goes to a program on the person's device, which any program there might claim to be.
 */
export type Unverified = { host: string; onDevice: boolean }

/** An authorization request that the server has checked. `scope` is what was asked and allowed, in the order asked. */
export type SignInView = {
  page: 'signin'
  site: Site
  app: PublicApp
  unverified?: Unverified
  /** The origin of the app's page that gets the answer, where the browser itself takes it there (FedCM). */
  givenTo?: string
  redirectUri: string
  scope: string[]
  state?: string
  nonce?: string
  codeChallenge?: string
  key?: KeyDelivery
  connector?: Connector
  /** How far the app wants to go with the organizations of the user; left out where it wants nothing of them. */
  organizationAccess?: 'read' | 'create'
  /** The claims without which nobody can sign in to the app; left out where there are none. */
  requiredClaims?: RequirableClaim[]
  /** Whether the answer goes where any program on the device may listen, so that no earlier consent counts. */
  asksAnew?: true
  /** The id of the organization for which the app wants to be used, or `select` where the person is to choose. */
  organization?: string
  /**
   * The reference of a request that the server keeps: one that the app has pushed, or for which a passkey must be used.
   * What the app alone should know of it is left out here.
   */
  requestUri?: string
  identityId?: string
  loginHint?: string
  prompts: Prompt[]
  /** How long ago the person may have proved who they are, in seconds. */
  maxAgeSeconds?: number
  /** The languages that the app asks for, the first the dearest. */
  languages: string[]
  formPost: boolean
  /** Where the person goes who says no: `access_denied`, with `state` and `iss`. */
  denied: Leaving
  /** Where the browser goes at once when `prompts` has `none` and something would have to be asked. */
  silently?: Record<SilentEnd, Leaving>
}

/**
 * An answer to the app that the server has decided. It is posted at once; where the app is unverified, the browser
 * leaves only by a click (RFC 9700 §4.11.2).
 */
export type ReturnView = { page: 'return'; site: Site; leaving: Leaving; unverified?: UnverifiedFault }

/** Why a request of an unverified app fails: the host of its client id, and the error, which its developer reads. */
export type UnverifiedFault = { host: string; error: string; description?: string }

/**
 * A sign-in with an organization that a page of another site has begun, and for whose address the organization does not
 * answer: the browser goes there only by a click (RFC 9700 §4.11.2).
 */
export type ProviderView = { page: 'return'; site: Site; leaving: { url: string }; organization: string }

/** Where somebody is who has signed out. An address that their app has not registered is refused: they stay. */
export type AfterLogout = { at: 'app'; url: string } | { at: 'here'; refused: boolean }

/** A request to sign out (OpenID Connect RP-Initiated Logout §2) that the server has checked. */
export type LogoutView = {
  page: 'logout'
  site: Site
  languages: string[]
  /** An ID token of ours, by which the API can tell whether the person must be asked. */
  idTokenHint?: string
  after: AfterLogout
}

/** The page that asks a person to sign. What is to be signed it reads by itself: only its owner may see that. */
export type SignView = {
  page: 'sign'
  site: Site
  requestId: string
  embedded: boolean
  /** The origins whose pages may show this one in a frame: those where the app of the request is registered to live. */
  framedBy: string[]
  /** When the server wrote this page: the time left is counted from there, whatever the device thinks of the time. */
  servedAt: string
}

/**
 * The end of a window that the browser opened for a sign-in which it mediates (FedCM). The outcome stands in the
 * fragment; with `fault` the window says what went wrong.
 */
export type FederatedView = { page: 'fedcm'; site: Site; fault?: string }

/** Why a person can't go on, where there is no app to send them back to. */
export type ErrorView = {
  page: 'error'
  site: Site
  error: string
  description: string
  requestId: string
  /** What an app sent that leads nowhere: text, for its developer. */
  sent?: { clientId: string; redirectUri: string }
}

export type PlaygroundView = { page: 'playground'; site: Site; clientId: string; redirectUri: string; issuer: string }

export type PlainView = {
  page:
    | 'landing'
    | 'register'
    | 'login'
    | 'recover'
    | 'account'
    | 'developers'
    | 'sso'
    | 'business'
    | 'organization-keys'
    | 'act'
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
  | PlainView
export type PageName = PageView['page']
