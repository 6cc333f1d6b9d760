import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import { originsOf } from '#clients/registration/redirect-uri.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  invalid_request: [400, 'The parameter fedcm_continue is for the sign-ins that a browser mediates, and is 1.'],
  invalid_redirect_uri: [400, 'A sign-in that the browser mediates does not end at that page.'],
})

/** Where the page of the app is that gets the answer: for the person to read, and one of the app's in any case. */
export function readGivenTo({ redirectUris }: Pick<RegisteredApp, 'redirectUris'>, origin: string | undefined): string {
  if (origin === undefined || !originsOf(redirectUris).includes(origin)) throw refuse.invalid_redirect_uri()
  return origin
}

/** The page that ends a sign-in which the browser mediates (FedCM), for whichever app it was begun. */
export function continuationPage(baseOrigin: string): string {
  return `${baseOrigin}/fedcm/resolve`
}

/**
 * Whether a request is one that goes on from a browser's dialog, in a window of ours. Refuses `invalid_request` for one
 * that could not have been begun there.
 */
export function readContinues({ fedcm_continue: mark, response_mode: mode, resource }: Record<string, string>) {
  if (mark === undefined) return false
  if (mark !== '1' || mode !== undefined || resource !== undefined) throw refuse.invalid_request()
  return true
}

/**
 * Whether such a request ends where it must, in place of a redirect URI of the app. What comes there is worth nothing
 * to whoever did not begin it: that is asked when it is finalized. An app that describes itself in a document is none
 * that a browser could know by its origin.
 */
export function endsHere(
  { documentReadAt }: Pick<RegisteredApp, 'documentReadAt'>,
  redirectUri: string,
  baseOrigin: string,
): boolean {
  return documentReadAt === null && redirectUri === continuationPage(baseOrigin)
}
