import { addressOf } from '../shared/address.ts'

/** An app on a page of its own, and where its Countersign is. */
export type SignInApp = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The issuer, whose pages people see, such as `https://id.example`. */
  authUrl: string
  clientId: string
  /**
   * Where the browser comes back to: one of the addresses with which the app is registered, of a page that finishes.
   */
  redirectUri: string
  /** With spaces between the scopes, `openid` among them; `openid profile` if not given. */
  scope?: string | undefined
  /**
   * Whether the app is one with end-to-end encryption: each sign-in brings the key then, and none comes without. Such a
   * sign-in goes by a redirect, as no dialog of a browser delivers a key.
   */
  appKey?: boolean | undefined
}

/** The settings of an app, sound. */
export type CheckedApp = {
  base: URL
  issuer: string
  clientId: string
  redirectUri: string
  scope: string
  takesKey: boolean
}

/** Throws a TypeError where nobody could sign in with them. */
export function checkApp({ baseUrl, authUrl, clientId, redirectUri, scope, appKey }: SignInApp): CheckedApp {
  if (!clientId) throw new TypeError('clientId is that of the registered app')
  const scopes = scope ?? 'openid profile'
  if (!scopes.split(' ').includes('openid')) throw new TypeError('Without the scope openid nobody would tell who it is')
  return {
    base: addressOf('baseUrl', baseUrl),
    issuer: addressOf('authUrl', authUrl).origin,
    clientId,
    redirectUri: new URL(redirectUri).href,
    scope: scopes,
    takesKey: appKey ?? false,
  }
}
