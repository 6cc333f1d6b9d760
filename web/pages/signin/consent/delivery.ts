import {
  redirectTargetOf,
  withRedirect,
  type AppKeyPlaces,
} from '@countersign/protocol/formats/encryption/app-key-envelope'

/**
 * Where a request wants an app key: the redirect target, and the thumbprint of the key to which it is encrypted, if
 * any. `binds` if from then on it goes to that recipient only.
 */
export type Destination = { target: string; recipient: string | null; binds: boolean }

/**
 * What is new about a destination: a target to which the app key has never gone, with those where it has, or another
 * recipient than the one that the key is bound to, each null for none.
 */
export type NewPlace = {
  redirect?: { before: string[]; now: string }
  recipient?: { before: string | null; now: string | null }
}

/**
 * Returns what the user must confirm before keys with these places are delivered to a destination. Returns undefined if
 * there is nothing to confirm.
 */
export function newPlaceOf(keys: AppKeyPlaces[], destination: Destination): NewPlace | undefined {
  const { target } = destination
  const elsewhere = keys.filter(({ redirects }) => !redirects.includes(target))
  const before = [...new Set(elsewhere.flatMap(({ redirects }) => redirects))]
  const rebound = keys.find((places) => places.recipient !== recipientAt(places, destination))
  const place = {
    ...(elsewhere.length > 0 && { redirect: { before, now: target } }),
    ...(rebound && { recipient: { before: rebound.recipient, now: recipientAt(rebound, destination) } }),
  }
  return Object.keys(place).length > 0 ? place : undefined
}

/** Returns the places of a new key, which may be delivered to this destination. */
export function placesWith(places: AppKeyPlaces, destination: Destination): AppKeyPlaces {
  const recipient = recipientAt(places, destination)
  return withRedirect({ ...places, recipient }, destination.target)
}

/**
 * Returns the places of a key after the user has confirmed what they were shown of a destination. Only that changes:
 * another tab may have stored the key with other places since then.
 */
export function placesAfter(places: AppKeyPlaces, shown: NewPlace, destination: Destination): AppKeyPlaces {
  const bound = shown.recipient ? { ...places, recipient: recipientAt(places, destination) } : places
  return shown.redirect ? withRedirect(bound, destination.target) : bound
}

/** Returns to which recipient a key is bound if it is delivered there: another recipient than its own unbinds it. */
function recipientAt(places: AppKeyPlaces, { recipient, binds }: Destination): string | null {
  if (binds) return recipient
  return recipient === places.recipient ? recipient : null
}

/**
 * Returns whether a key may be delivered by FedCM. Both ways lead through the server: it names the recipient and takes
 * the sealed key. So the key goes only to the recipient that it is bound to, for a page of an origin where the app has
 * received it.
 */
export function mayGoByBrowser(places: AppKeyPlaces, recipient: string, origin: string | null): boolean {
  // A loopback origin counts without its port, like a redirect target.
  const page = URL.parse(redirectTargetOf(`${origin}/`) ?? '')?.origin
  return places.recipient === recipient && places.redirects.some((each) => URL.parse(each)?.origin === page)
}
