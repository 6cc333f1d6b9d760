import { cleanDisplayName, isDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import { type Attributes, parseAttributes, parseBoolean, errors, urn } from '#platform/scim/message.ts'
import { scimUrlOf } from '#sso/connections/settings.ts'

/** Roles that a directory can assign. Only an owner can make owners. */
export const roles = ['admin', 'signer', 'member', 'viewer'] as const
export type ProvisionedRole = (typeof roles)[number]

/** Stored attributes of a SCIM user. */
export type ScimUser = {
  userName: string
  externalId: string | null
  displayName: string | null
  givenName: string | null
  familyName: string | null
  email: string | null
  /** The value that the directory sent, or true if it sent none. */
  isEmailPrimary: boolean
  active: boolean
  role: ProvisionedRole | null
}

/**
 * Parses a complete SCIM user. Attributes that are not stored are ignored (RFC 7644 §3.3). `before` is the previous
 * state: without `active` the state stays unchanged. Throws `invalidSyntax`, `invalidValue`.
 */
export function parseScimUser(attributes: Attributes, before?: ScimUser): ScimUser {
  const name = attributes.get('name') ?? undefined
  const parts: Attributes = name === undefined ? new Map<string, unknown>() : parseAttributes(name)
  const active = attributes.has('active') ? parseBoolean(attributes.get('active')) : (before?.active ?? true)
  if (active === undefined) throw errors.invalidValue({ sentence: 'active must be true or false.' })
  return {
    userName: requireText(attributes, 'userName'),
    externalId: readText(attributes, 'externalId'),
    displayName: readName(attributes, 'displayName'),
    givenName: readName(parts, 'givenName'),
    familyName: readName(parts, 'familyName'),
    email: readEmail(attributes.get('emails')),
    isEmailPrimary: parseBoolean(chosenOf(attributes.get('emails'))?.get('primary')) ?? true,
    active,
    role: readRole(attributes.get('roles')),
  }
}

function requireText(attributes: Attributes, name: string): string {
  const text = readText(attributes, name)
  if (text === null) throw errors.invalidValue({ sentence: `${name} is required.` })
  return text
}

function readText(attributes: Attributes, name: string): string | null {
  const value = attributes.get(name.toLowerCase()) ?? null
  if (value === null || value === '') return null
  if (typeof value !== 'string' || value.length > limits.provisionedTextCharactersMax || value.trim() === '')
    throw errors.invalidValue({
      sentence: `${name} must be a string of at most ${limits.provisionedTextCharactersMax} characters.`,
    })
  return value
}

/**
 * Returns a name without characters that a display name must not have, cut to the maximum length, or null if nothing
 * remains. No string is rejected: users can often edit their names themselves, and an invalid name could block the rest
 * of a change, such as a lower role. Throws `invalidValue`.
 */
function readName(from: Attributes, part: 'displayName' | 'givenName' | 'familyName'): string | null {
  const sent = from.get(part.toLowerCase()) ?? null
  if (sent === null) return null
  if (typeof sent !== 'string') throw errors.invalidValue({ sentence: `${part} must be a string.` })
  const most = limits.provisionedTextCharactersMax
  return isDisplayName(sent, most) ? sent : (cleanDisplayName(sent, most) ?? null)
}

function readEmail(value: unknown): string | null {
  const email = chosenOf(value)?.get('value') ?? undefined
  if (email === undefined) return null
  if (typeof email !== 'string' || !isEmail(email))
    throw errors.invalidValue({ sentence: 'emails contains an invalid e-mail address.' })
  return normalizeEmail(email)
}

function readRole(value: unknown): ProvisionedRole | null {
  const named = chosenOf(value)?.get('value') ?? undefined
  if (named === undefined) return null
  const role = roles.find((each) => each === named)
  if (!role) throw errors.invalidValue({ sentence: `roles must be one of ${roles.join(', ')}.` })
  return role
}

/** Selects the one stored value of a multi-valued attribute: primary, else work, else the first. */
function chosenOf(value: unknown): Attributes | undefined {
  const all = Array.isArray(value) ? value : [value ?? []].flat()
  const several = all.map((each): Attributes =>
    typeof each === 'string' ? new Map<string, unknown>([['value', each]]) : parseAttributes(each),
  )
  const primary = several.find((each) => parseBoolean(each.get('primary')))
  return primary ?? several.find((each) => each.get('type') === 'work') ?? several[0]
}

/** Maps a user to the SCIM attributes that `parseScimUser` parses. */
export function attributesOf(user: ScimUser) {
  const { userName, externalId, displayName, givenName, familyName, email, isEmailPrimary, active, role } = user
  const hasName = givenName !== null || familyName !== null
  return {
    userName,
    ...(externalId !== null && { externalId }),
    ...(hasName && { name: { ...(givenName !== null && { givenName }), ...(familyName !== null && { familyName }) } }),
    ...(displayName !== null && { displayName }),
    ...(email !== null && { emails: [{ value: email, type: 'work', primary: isEmailPrimary }] }),
    active,
    ...(role !== null && { roles: [{ value: role, primary: true }] }),
  }
}

export type Kept = ScimUser & { connectionId: string; scimUserId: string; createdAt: Date; updatedAt: Date }

/** Maps a user to a SCIM resource with its location. */
export function toScimUser(baseUrl: URL, person: Kept) {
  const { connectionId, scimUserId, createdAt, updatedAt } = person
  return {
    schemas: [urn.user],
    id: scimUserId,
    ...attributesOf(person),
    meta: {
      resourceType: 'User',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${scimUrlOf(baseUrl, connectionId)}/Users/${scimUserId}`,
    },
  }
}
