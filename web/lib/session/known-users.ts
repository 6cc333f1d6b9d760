import type { UserId } from '@countersign/protocol/ids'
import { isObject } from '@countersign/protocol/formats/json'
import { readLocal, writeLocal } from '../remembered.ts'

/**
 * A user who has signed in with this browser, as its pages offer to continue: one identity of theirs, and the passkey
 * that they used. Only this browser knows it, until they are forgotten here.
 */
export type KnownUser = {
  userId: UserId
  credentialId: string
  identityId: string
  handle: string
  displayName: string
  avatarUrl: string | null
}

type Named = Pick<KnownUser, 'identityId' | 'handle' | 'displayName' | 'avatarUrl'>

const key = 'known-users'
const usersMax = 3

/** Lists the users who have signed in with this browser, the latest first. */
export function readKnownUsers(): KnownUser[] {
  try {
    const stored: unknown = JSON.parse(readLocal(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isKnownUser) : []
  } catch {
    // Another program has written here: nothing is known.
    return []
  }
}

/** Remembers who has just signed in. The identity that they used last stays, if they still have it. */
export function rememberUser({ userId, credentialId }: Pick<KnownUser, 'userId' | 'credentialId'>, own: Named[]): void {
  const before = readKnownUsers().find((user) => user.userId === userId)
  const identity = own.find(({ identityId }) => identityId === before?.identityId) ?? own[0]
  if (identity) store({ userId, credentialId, ...named(identity) })
}

/** Remembers which identity a user has used last, if this browser knows the user. */
export function rememberIdentity(userId: string, identity: Named): void {
  const before = readKnownUsers().find((user) => user.userId === userId)
  if (before) store({ ...before, ...named(identity) })
}

/** Updates what this browser offers of a user, if it knows them: the identity may have changed, or be deleted. */
export function updateKnownUser(userId: string, own: Named[]): void {
  const known = readKnownUsers().find((user) => user.userId === userId)
  if (known) rememberUser(known, own)
}

export function forgetUser(userId: string): void {
  write(readKnownUsers().filter((user) => user.userId !== userId))
}

function store(user: KnownUser): void {
  const others = readKnownUsers().filter(({ userId }) => userId !== user.userId)
  write([user, ...others].slice(0, usersMax))
}

function write(users: KnownUser[]): void {
  writeLocal(key, JSON.stringify(users))
}

function named({ identityId, handle, displayName, avatarUrl }: Named): Named {
  return { identityId, handle, displayName, avatarUrl }
}

function isKnownUser(value: unknown): value is KnownUser {
  if (!isObject(value)) return false
  const texts = ['userId', 'credentialId', 'identityId', 'handle', 'displayName']
  const { avatarUrl } = value
  return texts.every((name) => typeof value[name] === 'string') && (avatarUrl === null || typeof avatarUrl === 'string')
}
