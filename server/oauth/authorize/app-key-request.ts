import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import { ScopeSet } from '@countersign/protocol/scope-set'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import type { AppKeyRequest, NewAppKey } from '#oauth/app-keys/app-key.ts'
import { parseEncryptionPublicKey } from '#accounts/keys/encryption-key.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { ResponseMode } from './parameters.ts'

const errors = defineErrors({
  invalid_request: [400, 'The app key fields do not match the requested encryption mode.'],
  invalid_scope: [400, 'Request either e2ee:symmetric or e2ee:asymmetric, not both.'],
})

const modes: EncryptionMode[] = ['symmetric', 'asymmetric']
const resetOnly = new ScopeSet(['e2ee:reset'])

/**
 * Manner of a request: its response mode, whether the app acts at another app, and whether a browser dialog (FedCM)
 * is used. With a dialog, `hasRecipient` if it names the registered key of the app's server.
 */
export type Manner = { mode: ResponseMode; isForOther: boolean; isByBrowser: boolean; hasRecipient: boolean }

export function mannerOf({ mode, connector, isFedcmContinuation, keyRecipient }: AuthorizationRequest): Manner {
  const hasRecipient = keyRecipient !== undefined
  return { mode, isForOther: connector !== undefined, isByBrowser: isFedcmContinuation, hasRecipient }
}

const noKeyByBrowser = 'A browser dialog creates no app key. Request the e2ee scopes by redirect, or name appKeyJwk.'

/**
 * Parses which key an app with end-to-end encryption requests, and the scopes to consent to.
 *
 * The scopes contain the key mode, which is symmetric if the app names none. They do not contain `e2ee:reset`, which is
 * done once and not granted. An app that only requests access to another app gets no key. A FedCM dialog delivers an
 * existing key to the registered key of the app's server, if the user has bound it to that; it creates none, and its
 * consent grants no e2ee scope.
 *
 * Throws `invalid_scope`, and `invalid_request` if the answer would be posted, because its fragment would be lost.
 */
export function parseAppKeyRequest(
  { supportsE2ee }: Pick<RegisteredApp, 'supportsE2ee'>,
  requested: ScopeSet,
  { mode: responseMode, isForOther, isByBrowser, hasRecipient }: Manner,
): { scope: ScopeSet; keyWish?: AppKeyRequest } {
  if (isByBrowser) return parseBrowserRequest(requested, supportsE2ee && hasRecipient)
  if (!supportsE2ee || (isForOther && requested.size === 0)) return { scope: requested }
  if (responseMode === 'form_post')
    throw errors.invalid_request({
      sentence: 'The app key is delivered in the fragment, which form_post would lose. Use response_mode=query.',
    })
  const named = modes.filter((mode) => requested.has(`e2ee:${mode}`))
  if (named.length > 1) throw errors.invalid_scope()
  const [mode = 'symmetric'] = named
  const scope = new ScopeSet([...requested, `e2ee:${mode}`]).without(resetOnly)
  return { scope, keyWish: { mode, reset: requested.has('e2ee:reset') } }
}

/** Parses which existing key a FedCM dialog requests for the app's server, if any. Throws `invalid_scope`. */
function parseBrowserRequest(requested: ScopeSet, takesKey: boolean): { scope: ScopeSet; keyWish?: AppKeyRequest } {
  const named = modes.filter((mode) => requested.has(`e2ee:${mode}`))
  if (named.length > 1) throw errors.invalid_scope()
  if ((named.length > 0 && !takesKey) || requested.has('e2ee:reset'))
    throw errors.invalid_scope({ sentence: noKeyByBrowser })
  const scope = requested.without(new ScopeSet(['e2ee:symmetric', 'e2ee:asymmetric']))
  const [mode = 'symmetric'] = named
  return takesKey ? { scope, keyWish: { mode, reset: false } } : { scope }
}

/** Key that the browser created for an app, as sent. */
export type AppKeyFields = {
  [Field in 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey']?: AuthorizeRequest[Field] | undefined
}

/**
 * Parses the key that the browser created, if it sent one. Throws `invalid_request` for an incomplete key or if the app
 * takes none, and `invalid_public_key`.
 */
export function parseNewAppKey(wish: AppKeyRequest | undefined, sent: AppKeyFields): NewAppKey | undefined {
  const { encryptedAppKey, appPublicKey, encryptedAppPrivateKey } = sent
  const isPair = Boolean(appPublicKey ?? encryptedAppPrivateKey)
  switch (wish?.mode) {
    case undefined:
      if (isPair || encryptedAppKey)
        throw errors.invalid_request({ sentence: 'This app takes no key. Omit the app key fields.' })
      return undefined
    case 'symmetric':
      if (isPair) throw errors.invalid_request()
      return encryptedAppKey ? { ciphertext: encryptedAppKey, publicKey: null } : undefined
    case 'asymmetric':
      return readNewPair(appPublicKey, encryptedAppPrivateKey ?? encryptedAppKey)
  }
}

type AppKeyField = string | null | undefined

function readNewPair(publicKey: AppKeyField, ciphertext: AppKeyField): NewAppKey | undefined {
  if (!publicKey && !ciphertext) return undefined
  if (!publicKey || !ciphertext) throw errors.invalid_request()
  return { ciphertext, publicKey: parseEncryptionPublicKey({ publicKey }) }
}
