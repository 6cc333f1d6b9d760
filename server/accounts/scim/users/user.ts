import { createHash } from 'node:crypto'
import { cleanDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { type Attributes, errors, parseAttributes, parseBoolean, urn } from '#platform/scim/message.ts'
import { type PatchSchema, listOf } from '#platform/scim/patch.ts'

export type ScimEmail = { value: string; type?: string; primary?: boolean }

/** What a directory has sent about a user. */
export type ScimUser = {
  userName: string
  externalId: string | null
  displayName: string | null
  formattedName: string | null
  givenName: string | null
  familyName: string | null
  emails: ScimEmail[]
  active: boolean
}

export const userPatchSchema: PatchSchema = new Map([
  ['schemas', 'read-only'],
  ['id', 'read-only'],
  ['meta', 'read-only'],
  ['username', 'required'],
  ['externalid', 'simple'],
  ['displayname', 'simple'],
  ['active', 'required'],
  ['name', 'complex'],
  ['emails', 'multi-valued'],
])

/**
 * Parses a user. Attributes that are not stored are ignored (RFC 7644 §3.3). Without `active` the state before stays.
 * Throws `invalidSyntax`, `invalidValue`.
 */
export function parseUser(attributes: Attributes, before?: ScimUser): ScimUser {
  const name = attributes.get('name') ?? undefined
  const parts: Attributes = name === undefined ? new Map<string, unknown>() : parseAttributes(name)
  const active = attributes.has('active') ? parseBoolean(attributes.get('active')) : (before?.active ?? true)
  if (active === undefined) throw errors.invalidValue({ sentence: 'active must be true or false.' })
  const userName = readText(attributes, 'userName')
  if (userName === null) throw errors.invalidValue({ sentence: 'userName is required.' })
  return {
    userName,
    externalId: readText(attributes, 'externalId'),
    displayName: readText(attributes, 'displayName'),
    formattedName: readText(parts, 'formatted'),
    givenName: readText(parts, 'givenName'),
    familyName: readText(parts, 'familyName'),
    emails: readEmails(attributes.get('emails')),
    active,
  }
}

function readText(attributes: Attributes, name: string): string | null {
  const value = attributes.get(name.toLowerCase()) ?? null
  if (value === null || value === '') return null
  if (typeof value === 'string' && value.length <= limits.provisionedTextCharactersMax && value.trim() !== '')
    return value
  const most = limits.provisionedTextCharactersMax
  throw errors.invalidValue({ sentence: `${name} must be a string of at most ${most} characters.` })
}

function readEmails(value: unknown): ScimEmail[] {
  const all = listOf(value).map(readEmail)
  if (all.length > limits.scimEmailsMax)
    throw errors.invalidValue({ sentence: `A user has at most ${limits.scimEmailsMax} e-mail addresses.` })
  if (all.filter(({ primary }) => primary === true).length > 1)
    throw errors.invalidValue({ sentence: 'Only one e-mail address can be primary.' })
  return all
}

function readEmail(sent: unknown): ScimEmail {
  const email: Attributes = typeof sent === 'string' ? new Map([['value', sent]]) : parseAttributes(sent)
  const value = email.get('value')
  if (typeof value !== 'string' || !isEmail(value))
    throw errors.invalidValue({ sentence: 'emails contains an invalid e-mail address.' })
  const type = readText(email, 'type')
  const primary = parseBoolean(email.get('primary'))
  return { value, ...(type !== null && { type }), ...(primary !== undefined && { primary }) }
}

/** Returns the address of the identity: the primary one, else the work address, else the first. */
export function addressOf({ emails }: Pick<ScimUser, 'emails'>): string | null {
  const [chosen] = inOrder(emails)
  return chosen ? normalizeEmail(chosen.value) : null
}

/** Returns the addresses in lower case, that of the identity first. */
export function emailKeysOf({ emails }: Pick<ScimUser, 'emails'>): string[] {
  return [...new Set(inOrder(emails).map(({ value }) => value.toLowerCase()))]
}

function inOrder(emails: ScimEmail[]): ScimEmail[] {
  const first = emails.find(({ primary }) => primary) ?? emails.find(({ type }) => type?.toLowerCase() === 'work')
  return first ? [first, ...emails.filter((each) => each !== first)] : emails
}

/** Returns the display name of the identity: the first of the sent names of which something can be shown. */
export function displayNameOf({ displayName, formattedName, givenName, familyName, userName }: ScimUser): string {
  const parts = [givenName, familyName].filter((part) => part !== null).join(' ')
  const names = [displayName, formattedName, parts, userName]
  const shown = names.map((name) => (name ? cleanDisplayName(name) : undefined)).find((name) => name !== undefined)
  if (shown === undefined) throw errors.invalidValue({ sentence: 'displayName or userName must be visible.' })
  return shown
}

/** Maps a user to the attributes that `parseUser` parses. */
export function attributesOf(user: ScimUser) {
  const { userName, externalId, displayName, formattedName, givenName, familyName, emails, active } = user
  const name = {
    ...(formattedName !== null && { formatted: formattedName }),
    ...(familyName !== null && { familyName }),
    ...(givenName !== null && { givenName }),
  }
  return {
    userName,
    ...(externalId !== null && { externalId }),
    ...(Object.keys(name).length > 0 && { name }),
    ...(displayName !== null && { displayName }),
    ...(emails.length > 0 && { emails }),
    active,
  }
}

/** A stored user. `active` is what the directory has sent, `isActive` also counts suspensions by operators. */
export type StoredUser = ScimUser & { identityId: IdentityId; isActive: boolean; createdAt: Date; updatedAt: Date }

/** Maps a user to a SCIM resource with its location and version. */
export function toResource(url: string, user: StoredUser) {
  const { identityId, isActive, createdAt, updatedAt } = user
  return withVersion({
    schemas: [urn.user],
    id: identityId,
    ...attributesOf({ ...user, active: isActive }),
    meta: {
      resourceType: 'User',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${url}/Users/${identityId}`,
    },
  })
}

/** Adds the version of a resource, a weak entity tag: a digest of what the resource shows (RFC 7644 §3.14). */
function withVersion<Resource extends { meta: object }>(resource: Resource) {
  const digest = createHash('sha256').update(JSON.stringify(resource)).digest('base64url').slice(0, 22)
  return { ...resource, meta: { ...resource.meta, version: `W/"${digest}"` } }
}
