import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { RegisteredApp } from '#clients/registration/app-directory.ts'
import type { KeyWish, NewAppKey } from '#oauth/app-keys/app-key.ts'
import { readEncryptionKey } from '#accounts/keys/encryption-key.ts'
import { refusals } from '#platform/refusal.ts'
import type { ResponseMode } from './answer.ts'

const refuse = refusals({
  invalid_request: [400, 'The fields of the key are not those of its mode.'],
  invalid_scope: [400, 'The key of an app is symmetric or asymmetric, not both.'],
})

const modes: EncryptionMode[] = ['symmetric', 'asymmetric']

/** How an app asks: with which response mode, for itself or to act at another, in a dialog of the browser (FedCM). */
export type Manner = { mode: ResponseMode; isForOther: boolean; isByBrowser: boolean }

const noKeyByBrowser = 'The dialog of a browser delivers no app key: ask for the e2ee scopes by a redirect.'

/**
 * What an app with end-to-end encryption asks of its key, and the scopes to consent to: those that are asked for with
 * the mode, which is symmetric where the app names none, and without `e2ee:reset`, which is done once and not granted.
 * One that asks for nothing but to act at another app takes no key. In the dialog of a browser there is none to ask
 * for: it would pass through the server, sealed to the recipient that the server names. Refuses `invalid_scope`, and
 * `invalid_request` where the answer would be posted: its fragment would be lost.
 */
export function readKeyWish(
  { supportsE2ee }: Pick<RegisteredApp, 'supportsE2ee'>,
  asked: string[],
  { mode: responseMode, isForOther, isByBrowser }: Manner,
): { scope: string[]; keyWish?: KeyWish } {
  if (isByBrowser && asked.some((scope) => scope.startsWith('e2ee:')))
    throw refuse.invalid_scope({ sentence: noKeyByBrowser })
  if (!supportsE2ee || isByBrowser || (isForOther && asked.length === 0)) return { scope: asked }
  if (responseMode === 'form_post')
    throw refuse.invalid_request({ sentence: 'The key of an app comes in the fragment, which form_post would lose.' })
  const named = modes.filter((mode) => asked.includes(`e2ee:${mode}`))
  if (named.length > 1) throw refuse.invalid_scope()
  const [mode = 'symmetric'] = named
  const scope = [...new Set([...asked, `e2ee:${mode}`])].filter((each) => each !== 'e2ee:reset')
  return { scope, keyWish: { mode, reset: asked.includes('e2ee:reset') } }
}

type Sent = {
  [Field in 'encryptedAppKey' | 'appPublicKey' | 'encryptedAppPrivateKey']?: AuthorizeRequest[Field] | undefined
}

/**
 * The key that the browser has made, if it sent one. Refuses `invalid_request` for half of one or where the app takes
 * none, and `invalid_public_key`.
 */
export function readNewKey(wish: KeyWish | undefined, sent: Sent): NewAppKey | undefined {
  const { encryptedAppKey, appPublicKey, encryptedAppPrivateKey } = sent
  const isPair = Boolean(appPublicKey ?? encryptedAppPrivateKey)
  switch (wish?.mode) {
    case undefined:
      if (isPair || encryptedAppKey) throw refuse.invalid_request({ sentence: 'This app takes no key.' })
      return undefined
    case 'symmetric':
      if (isPair) throw refuse.invalid_request()
      return encryptedAppKey ? { ciphertext: encryptedAppKey, publicKey: null } : undefined
    case 'asymmetric':
      return readNewPair(appPublicKey, encryptedAppPrivateKey ?? encryptedAppKey)
  }
}

type Half = string | null | undefined

function readNewPair(publicKey: Half, ciphertext: Half): NewAppKey | undefined {
  if (!publicKey && !ciphertext) return undefined
  if (!publicKey || !ciphertext) throw refuse.invalid_request()
  return { ciphertext, publicKey: readEncryptionKey({ publicKey }) }
}
