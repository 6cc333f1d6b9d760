import type { PublicApp } from './apps.ts'

/**
 * What the server writes into a page as inert JSON (`<script type="application/json" id="view">`): enough to draw it
 * at once, so that nothing shifts.
 */
export type Site = {
  baseUrl: string
  authUrl: string
  relyingPartyId: string
  demo: boolean
  /** Whether this service can send mail. */
  mail: boolean
}

/** An authorization request that the server has checked. `scope` is what was asked and allowed, in the order asked. */
export type SignInView = {
  page: 'signin'
  site: Site
  app: PublicApp
  redirectUri: string
  scope: string[]
  state?: string
  nonce?: string
  codeChallenge?: string
  identityId?: string
  loginHint?: string
  /** Where the person goes who says no: the redirect URI with `error=access_denied`, `state` and `iss`. */
  denyUrl: string
}

/** Why a person can't go on, where there is no app to send them back to. */
export type ErrorView = { page: 'error'; site: Site; error: string; description: string; requestId: string }

export type PlaygroundView = { page: 'playground'; site: Site; clientId: string; redirectUri: string; issuer: string }

export type PlainView = { page: 'landing' | 'register' | 'login' | 'recover' | 'account'; site: Site }

export type PageView = SignInView | ErrorView | PlaygroundView | PlainView
export type PageName = PageView['page']
