import type { NamedIdentity, OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import type { BusinessWords } from '../words.ts'
import type { OrganizationActivityWords } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

/** A part of a sentence: text, or a name that stands out. */
export type SentencePart = { text: string; isName: boolean }

type Words = {
  activity: OrganizationActivityWords
  roles: BusinessWords['roles']
  names: Partial<Record<string, string>>
}

/** Says who did what to which object. An action without a sentence is shown by its name. */
export function sentenceOf(
  entry: OrganizationAuditEntry,
  people: NamedIdentity[],
  { activity, roles, names }: Words,
): SentencePart[] {
  const { action, details } = entry
  const sentences: Partial<Record<string, string>> = activity.sentences
  const special = specialSentence(entry, activity)
  const template = special ?? (Object.hasOwn(sentences, action) ? sentences[action] : undefined)
  if (template === undefined) return [{ text: names[action] ?? action, isName: false }]
  const role = (name: string) => {
    const value = textOf(details, name)
    return isRole(roles, value) ? roles[value] : (value ?? '')
  }
  const members = details['memberIds']
  const values: Record<string, SentencePart> = {
    who: { text: actorOf(entry, people, activity), isName: true },
    what: { text: objectOf(entry, people, activity), isName: true },
    role: { text: role('role'), isName: false },
    before: { text: role('roleBefore'), isName: false },
    count: { text: activity.members(Array.isArray(members) ? members.length : 0), isName: false },
  }
  return template.split(/(\{\w+\})/).flatMap((part) => {
    const value = /^\{(\w+)\}$/.exec(part)?.[1]
    if (value !== undefined) return values[value] ?? []
    return part === '' ? [] : { text: part, isName: false }
  })
}

function specialSentence(
  { action, identityId, details }: OrganizationAuditEntry,
  { special }: OrganizationActivityWords,
): string | undefined {
  const [role, before] = [textOf(details, 'role'), textOf(details, 'roleBefore')]
  if (action === 'organization.member.updated' && before !== undefined && before !== role) return special.role
  if (action === 'organization.member.joined' && details['by'] === 'sso') return special.joinedBySso
  if (action === 'organization.signing.signed' && details['completes'] === true) return special.completes
  if (action !== 'organization.member.removed') return undefined
  if (details['by'] === 'scim') return special.bySync
  const removed = textOf(details, 'memberIdentityId')
  return removed === undefined || removed === identityId ? special.left : undefined
}

function actorOf(
  { actor, identityId, handle }: OrganizationAuditEntry,
  people: NamedIdentity[],
  words: OrganizationActivityWords,
): string {
  const known = people.find((each) => each.identityId === identityId)
  if (known) return known.displayName
  if (handle !== null) return atHandle(handle)
  if (actor === 'system') return words.service
  if (actor === 'operator') return words.operator
  return actor === 'app' ? words.app : words.someone
}

function objectOf(
  { action, details }: OrganizationAuditEntry,
  people: NamedIdentity[],
  words: OrganizationActivityWords,
): string {
  const identityId = ['memberIdentityId', 'invitedIdentityId', 'signatoryIdentityId']
    .map((name) => textOf(details, name))
    .find((id) => id !== undefined)
  if (identityId !== undefined) {
    const known = people.find((each) => each.identityId === identityId)
    return known ? `${known.displayName} (${atHandle(known.handle)})` : words.someone
  }
  if (action === 'organization.updated') return fieldsOf(details, words)
  const named = ['email', 'domain', 'name', 'url']
    .map((name) => textOf(details, name))
    .find((text) => text !== undefined)
  const { version } = details
  return named ?? (typeof version === 'number' ? String(version) : words.someone)
}

function fieldsOf({ changed }: OrganizationAuditEntry['details'], { fields }: OrganizationActivityWords): string {
  const names: Partial<Record<string, string>> = fields
  const known = Array.isArray(changed) ? changed.map((name: unknown) => names[String(name)] ?? String(name)) : []
  return new Intl.ListFormat(document.documentElement.lang || 'en').format(known)
}

function textOf(details: OrganizationAuditEntry['details'], name: string): string | undefined {
  const value = details[name]
  return typeof value === 'string' ? value : undefined
}

function isRole(roles: BusinessWords['roles'], name: string | undefined): name is keyof BusinessWords['roles'] {
  return name !== undefined && Object.hasOwn(roles, name)
}

/** Returns the sentence without its parts, to search in it. */
export function plainText(parts: SentencePart[]): string {
  return parts.map(({ text }) => text).join('')
}
