/**
 * A session by which its owner acts, or whoever has stolen it. It counts for the owner, and at half the number for
 * itself, so that no session alone uses up what its owner may. `isProved` says that a passkey was used in it lately:
 * such a session has a tenth beyond both numbers, and all that its owner has together a half, so that who has the
 * passkey can act also while stolen sessions have used up the rest.
 */
export type SessionKey = { owner: string; sessionId: string; isProved: boolean }

/** A session of an organization, which counts for itself alone: what the person may is none of the organization's. */
export type LoneSessionKey = { sessionId: string }

/** By what a person acts. It is never the id of a user alone, as any one session could use up what is counted by it. */
export type PersonKey = SessionKey | LoneSessionKey

export type Key = string | PersonKey

/** What a key is counted under, and how many times in a window. */
export type Counter = { key: string; points: number }

/** A /48 has 65,536 networks, and is what many a provider gives to one customer: it may as much as ten of them. */
const networksOfSite = 10

const sessionPartOfLimit = 1 / 2
const provedSessionPartOfLimit = 1 / 10
const provedPartOfLimit = 1 / 2

/** The counters of a key, the narrowest first: an IPv6 network (`addressKey`) counts for its /48 too. */
export function countersOf(key: Key, points: number): Counter[] {
  if (typeof key !== 'string') {
    if (!('owner' in key)) return [{ key: key.sessionId, points }]
    const session = { key: `session ${key.sessionId}`, points: Math.ceil(points * sessionPartOfLimit) }
    return [session, { key: key.owner, points }]
  }
  const site = siteKey(key)
  const counter = { key, points }
  return site === key ? [counter] : [counter, { key: site, points: points * networksOfSite }]
}

/** What a key may beyond its counters; none where it may nothing. */
export function countersBeyond(key: Key, points: number): Counter[] {
  if (typeof key === 'string' || !('owner' in key) || !key.isProved) return []
  return [
    { key: `proved session ${key.sessionId}`, points: Math.ceil(points * provedSessionPartOfLimit) },
    { key: `proved ${key.owner}`, points: Math.ceil(points * provedPartOfLimit) },
  ]
}

/** The /48 of an IPv6 network (`addressKey`), which one customer may have; any other key as it is. */
export function siteKey(key: string): string {
  const site = /^([0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}):[0-9a-f]{1,4}::\/64$/.exec(key)?.[1]
  return site === undefined ? key : `${site}::/48`
}
