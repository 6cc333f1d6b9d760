import { createHash } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { type Attributes, errors, parseAttributes, urn } from '#platform/scim/message.ts'
import { listOf, type PatchSchema } from '#platform/scim/patch.ts'

/** What a directory has sent about a group, without its members. */
export type ScimGroup = { displayName: string; externalId: string | null }

export type StoredGroup = ScimGroup & {
  groupId: string
  key: string
  createdAt: Date
  updatedAt: Date
  /** Number of members, and of invited users who become members. */
  memberCount: number
}

export const groupPatchSchema: PatchSchema = new Map([
  ['schemas', 'read-only'],
  ['id', 'read-only'],
  ['meta', 'read-only'],
  ['displayname', 'required'],
  ['externalid', 'simple'],
  ['members', 'multi-valued'],
])

/** Parses a group with its members. Throws `invalidSyntax`, `invalidValue`. */
export function parseGroup(attributes: Attributes): ScimGroup & { members: string[] } {
  return {
    displayName: readDisplayName(attributes.get('displayname')),
    externalId: readExternalId(attributes.get('externalid')),
    members: readMembers(attributes.get('members')),
  }
}

export function readDisplayName(value: unknown): string {
  if (typeof value === 'string' && isDisplayName(value)) return value
  const most = limits.displayNameCharactersMax
  throw errors.invalidValue({ sentence: `displayName must be 1 to ${most} visible characters.` })
}

export function readExternalId(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' && value.length <= limits.provisionedTextCharactersMax) return value
  const most = limits.provisionedTextCharactersMax
  throw errors.invalidValue({ sentence: `externalId must be a string of at most ${most} characters.` })
}

/** Returns the IDs of members, in lower case. Groups have no groups as members. */
export function readMembers(value: unknown): string[] {
  return listOf(value).map((member) => {
    const id = typeof member === 'string' ? member : parseAttributes(member).get('value')
    if (typeof id !== 'string' || id === '')
      throw errors.invalidValue({ sentence: 'Each of members must have the ID of a user as value.' })
    return id.toLowerCase()
  })
}

const keyCharactersMax = 63
const digestCharacters = 16

/**
 * Derives the key of a group from its name: lower case, with hyphens for what a key cannot contain. If that loses
 * letters or digits, a digest of the name tells it from others.
 */
export function keyOf(displayName: string): string {
  const plain = displayName.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const key = withoutPunctuationAround(plain.replaceAll(/[^a-z0-9._]+/g, '-'))
  if (key !== '' && !/(?![a-z0-9])[\p{L}\p{N}]/u.test(plain))
    return withoutPunctuationAround(key.slice(0, keyCharactersMax))
  const digest = createHash('sha256').update(displayName).digest('hex').slice(0, digestCharacters)
  const start = withoutPunctuationAround(key.slice(0, keyCharactersMax - digestCharacters - 1))
  return `${start === '' ? 'group' : start}-${digest}`
}

function withoutPunctuationAround(text: string): string {
  const characters = [...text]
  const isOfWord = (character: string) => /[a-z0-9]/.test(character)
  const start = characters.findIndex(isOfWord)
  return start === -1 ? '' : characters.slice(start, characters.findLastIndex(isOfWord) + 1).join('')
}

/**
 * Maps a group to a SCIM resource with its location and version. Without `members` they were not requested. The version
 * does not depend on them being read: each change of a member changes it.
 */
export function toResource(url: string, group: StoredGroup, members: IdentityId[] | undefined) {
  const { groupId, displayName, externalId, createdAt, updatedAt, memberCount } = group
  const state = JSON.stringify([groupId, displayName, externalId, updatedAt, memberCount])
  const digest = createHash('sha256').update(state).digest('base64url').slice(0, 22)
  return {
    schemas: [urn.group],
    id: groupId,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(members && {
      members: members.map((value) => ({ value, type: 'User', $ref: `${url}/Users/${value}` })),
    }),
    meta: {
      resourceType: 'Group',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${url}/Groups/${groupId}`,
      version: `W/"${digest}"`,
    },
  }
}
