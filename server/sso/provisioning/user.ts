import { cleanDisplayName, isDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import { readAttributes, readTruth, type Attributes } from './scim-attributes.ts'
import { refuse, scimUrlOf, urn } from './scim.ts'

/** The roles that a directory may have somebody join as; nobody but an owner makes owners. */
export const roles = ['admin', 'signer', 'member', 'viewer'] as const
export type ProvisionedRole = (typeof roles)[number]

/** What is kept of a SCIM user. */
export type ScimUser = {
  userName: string
  externalId: string | null
  displayName: string | null
  givenName: string | null
  familyName: string | null
  email: string | null
  /** As the directory has said; true where it has not. */
  isEmailPrimary: boolean
  active: boolean
  role: ProvisionedRole | null
}

/**
 * What a user is who is sent whole; attributes that are not kept are passed over (RFC 7644 §3.3). `before` is what they
 * were: who is not said to be active or not stays as they are. Refuses `invalidSyntax`, `invalidValue`.
 */
export function readUser(attributes: Attributes, before?: ScimUser): ScimUser {
  const name = attributes.get('name') ?? undefined
  const parts: Attributes = name === undefined ? new Map<string, unknown>() : readAttributes(name)
  const active = attributes.has('active') ? readTruth(attributes.get('active')) : (before?.active ?? true)
  if (active === undefined) throw refuse.invalidValue({ sentence: 'active is true or false.' })
  return {
    userName: requireText(attributes, 'userName'),
    externalId: readText(attributes, 'externalId'),
    displayName: readName(attributes, 'displayName'),
    givenName: readName(parts, 'givenName'),
    familyName: readName(parts, 'familyName'),
    email: readEmail(attributes.get('emails')),
    isEmailPrimary: readTruth(chosenOf(attributes.get('emails'))?.get('primary')) ?? true,
    active,
    role: readRole(attributes.get('roles')),
  }
}

function requireText(attributes: Attributes, name: string): string {
  const text = readText(attributes, name)
  if (text === null) throw refuse.invalidValue({ sentence: `${name} is missing.` })
  return text
}

function readText(attributes: Attributes, name: string): string | null {
  const value = attributes.get(name.toLowerCase()) ?? null
  if (value === null || value === '') return null
  if (typeof value !== 'string' || value.length > limits.provisionedTextCharactersMax || value.trim() === '')
    throw refuse.invalidValue({ sentence: `${name} is a text of at most ${limits.provisionedTextCharactersMax}.` })
  return value
}

/**
 * A name without what a display name must not have, and cut where it is too long; null where nothing is left. No text
 * is refused: users may often write their names themselves, and would keep back the rest of a change by them, such as a
 * lower role. Refuses `invalidValue`.
 */
function readName(from: Attributes, part: 'displayName' | 'givenName' | 'familyName'): string | null {
  const sent = from.get(part.toLowerCase()) ?? null
  if (sent === null) return null
  if (typeof sent !== 'string') throw refuse.invalidValue({ sentence: `${part} is a text.` })
  const most = limits.provisionedTextCharactersMax
  return isDisplayName(sent, most) ? sent : (cleanDisplayName(sent, most) ?? null)
}

function readEmail(value: unknown): string | null {
  const email = chosenOf(value)?.get('value') ?? undefined
  if (email === undefined) return null
  if (typeof email !== 'string' || !isEmail(email))
    throw refuse.invalidValue({ sentence: 'An address in emails is no e-mail address.' })
  return normalizeEmail(email)
}

function readRole(value: unknown): ProvisionedRole | null {
  const named = chosenOf(value)?.get('value') ?? undefined
  if (named === undefined) return null
  const role = roles.find((each) => each === named)
  if (!role) throw refuse.invalidValue({ sentence: `A role is one of ${roles.join(', ')}.` })
  return role
}

/** Of what there are several we keep one: the primary, or else the one of work, or else the first. */
function chosenOf(value: unknown): Attributes | undefined {
  const all = Array.isArray(value) ? value : [value ?? []].flat()
  const several = all.map((each): Attributes =>
    typeof each === 'string' ? new Map<string, unknown>([['value', each]]) : readAttributes(each),
  )
  const primary = several.find((each) => readTruth(each.get('primary')))
  return primary ?? several.find((each) => each.get('type') === 'work') ?? several[0]
}

/** A user as SCIM has it: what `readUser` reads. */
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

export type Kept = ScimUser & { connectionId: string; personId: string; createdAt: Date; updatedAt: Date }

/** The resource, with where it is. */
export function tellUser(baseUrl: URL, person: Kept) {
  const { connectionId, personId, createdAt, updatedAt } = person
  return {
    schemas: [urn.user],
    id: personId,
    ...attributesOf(person),
    meta: {
      resourceType: 'User',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${scimUrlOf(baseUrl, connectionId)}/Users/${personId}`,
    },
  }
}
