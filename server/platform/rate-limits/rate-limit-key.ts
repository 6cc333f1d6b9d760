import type { ClientId, SessionId } from '@countersign/protocol/ids'

/**
 * Session of a user, or of a thief. It counts for its owner, and at half the limit for itself, so that no session alone
 * exhausts the owner's limit. `isProved` means that a passkey was used in it recently. Such a session gets a tenth
 * above both limits, and all of its owner's together a half. The user with the passkey can then act even if stolen
 * sessions have exhausted the rest. An app that acts for its user counts like a session.
 */
export type SessionKey = { owner: string; sessionId: SessionId | ClientId; isProved: boolean }

/**
 * Session opened by enterprise SSO. It counts only for itself, because the user's limits are independent of the
 * organization.
 */
export type LoneSessionKey = { sessionId: SessionId }

/** Key for the actions of a user. It is never the user ID alone, because one session could then exhaust the limit. */
export type PersonKey = SessionKey | LoneSessionKey

export type Key = string | PersonKey

/** A key to count under, and its limit per window. */
export type Counter = { key: string; points: number }

/** A /48 has 65,536 networks, and many providers assign it to one customer. It gets the limit of ten networks. */
const networksOfSite = 10

const sessionPartOfLimit = 1 / 2
const provedSessionPartOfLimit = 1 / 10
const provedPartOfLimit = 1 / 2

/** Returns the counters of a key, narrowest first. An IPv6 network (`addressKey`) also counts for its /48. */
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

/** Returns the counters that a key may use beyond its normal ones, or none. */
export function countersBeyond(key: Key, points: number): Counter[] {
  if (typeof key === 'string' || !('owner' in key) || !key.isProved) return []
  return [
    { key: `proved session ${key.sessionId}`, points: Math.ceil(points * provedSessionPartOfLimit) },
    { key: `proved ${key.owner}`, points: Math.ceil(points * provedPartOfLimit) },
  ]
}

/**
 * Returns the /48 of an IPv6 network (`addressKey`), which can belong to one customer. Other keys are returned
 * unchanged.
 */
export function siteKey(key: string): string {
  const site = /^([0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}):[0-9a-f]{1,4}::\/64$/.exec(key)?.[1]
  return site === undefined ? key : `${site}::/48`
}
