/** What a browser has for the pages of a provider, in the windows that it opened itself (FedCM §2.4). */
type IdentityProvider = {
  close: () => void
  resolve: (token: string, options: { accountId: string }) => Promise<void>
}

declare global {
  interface Window {
    IdentityProvider?: IdentityProvider
  }
}

export type Outcome = { assertion: string; account: string }

/** What the page to sign in has put in the fragment; it is taken out of the address, for it is given once. */
export function takeOutcome(): Outcome | undefined {
  const fields = new URLSearchParams(location.hash.slice(1))
  history.replaceState(null, '', location.pathname)
  const [assertion, account] = [fields.get('assertion'), fields.get('account')]
  return assertion !== null && account !== null ? { assertion, account } : undefined
}

/** Gives the app what its person has agreed to; the browser then closes this window. Rejects in any other window. */
export async function giveToApp({ assertion, account }: Outcome): Promise<void> {
  if (!window.IdentityProvider) throw new Error('This browser mediates no sign-ins.')
  await window.IdentityProvider.resolve(assertion, { accountId: account })
}

/**
 * What closes the window, and gives nothing: the browser that opened it, which has to hear of that. Undefined in one
 * that mediates no sign-ins; what its person has opened themselves, they close.
 */
export function windowCloser(): (() => void) | undefined {
  return window.IdentityProvider && (() => window.IdentityProvider?.close())
}
