import { isObject } from '@countersign/protocol/formats/json'
import { linesOf, findSuspiciousCharacters } from '../text/text-inspection.ts'
import { describeField, isId } from './describe-field.ts'
import type { ShownAct } from './statement.ts'
import { type ActionSubject, foundersIn } from './subject.ts'
import type { ActWords, BusinessWords } from './words.ts'

/** A field that an action sets, with the value before if it changes one. */
export type DescribedChange = { name: string; label: string; value: string; before?: string }

/** An action in words. */
export type ActionDescription = {
  /** One sentence that says what is done, and who or what it concerns. */
  summary: string
  changes: DescribedChange[]
  /** What ends with it. */
  ends: string | undefined
  /** False if a field has no words, or characters that may mislead: then only the exact data says everything. */
  isComplete: boolean
}

type Words = { acts: ActWords; business: BusinessWords }

/** Describes an action. Its kind and fields come from what is signed, names of people and things from the server. */
export function describeAction(
  { action, details }: Pick<ShownAct, 'action' | 'details'>,
  subject: ActionSubject,
  words: Words,
): ActionDescription {
  const before = isObject(details['from']) ? details['from'] : {}
  const fields = Object.entries(details).filter(([name]) => name !== 'from' && !isId(name))
  const changes = fields.map(([name, value]) => describeChange({ name, value, before }, words.business))
  const described = [...changes.flatMap((each) => each ?? []), ...describeCouncil({ action, details }, subject, words)]
  return {
    summary: summarize({ action, details }, subject, words),
    changes: described,
    ends: actionConsequence({ action, details }, subject.isOwn, words),
    isComplete: Object.hasOwn(words.acts.acts, action) && !changes.includes(undefined) && isNamed(details),
  }
}

/** Checks that the page names everything which the details name by an ID: the organization, and one thing in it. */
function isNamed(details: ShownAct['details']): boolean {
  const ids = Object.keys(details).filter(isId)
  return ids.length <= 2 && ids.every((name) => typeof details[name] === 'string')
}

/** Describes the people of a council: those who found it, or what an admitted one may do. */
function describeCouncil(
  { action, details }: Pick<ShownAct, 'action' | 'details'>,
  { people }: ActionSubject,
  { acts, business }: Words,
): DescribedChange[] {
  const permissions = ({ maySign, mayApprove }: { maySign: boolean; mayApprove: boolean }) =>
    acts.may[maySign && mayApprove ? 'both' : maySign ? 'sign' : 'approve']
  if (action === 'organization.signatory.admitted' && isObject(details['from'])) {
    const { maySign, mayApprove } = details['from']
    const value = permissions({ maySign: maySign === true, mayApprove: mayApprove === true })
    return [{ name: 'permissions', label: business.mayDo, value }]
  }
  const founders = foundersIn(details)
  const lines = founders.map(
    ({ identityId, ...may }) => `${people?.get(identityId) ?? identityId}: ${permissions(may)}`,
  )
  return lines.length === 0 ? [] : [{ name: 'signatories', label: acts.signatories, value: lines.join('\n') }]
}

type Field = { name: string; value: unknown; before: Record<string, unknown> }

/** Describes one field; returns undefined if it cannot be described in words that do not mislead. */
function describeChange({ name, value, before }: Field, words: BusinessWords): DescribedChange[] | undefined {
  const now = describeField(name, value, words)
  if (!now || now.some((part) => isMisleading(part.value))) return undefined
  if (!Object.hasOwn(before, name)) return now
  const nothing = now.map((part) => ({ ...part, value: words.concerns.none }))
  const then = before[name] === null ? nothing : describeField(name, before[name], words)
  if (!then || then.some((part) => isMisleading(part.value))) return undefined
  return now.map((part) => {
    const earlier = then.find((other) => other.name === part.name)
    return earlier && earlier.value !== part.value ? { ...part, before: earlier.value } : part
  })
}

/** Only the exact text shows misleading characters and line ends, and marks them. */
function isMisleading(text: string): boolean {
  return /[\r\n]/.test(text) || findSuspiciousCharacters(linesOf(text)).size > 0
}

function summarize(
  { action, details }: Pick<ShownAct, 'action' | 'details'>,
  { organization, what, isOwn }: ActionSubject,
  { acts: words }: Words,
): string {
  const subject = { organization, what: what?.name ?? namedIn(details) }
  if (isOwn && action === 'organization.member.removed') return words.leave(subject)
  if (action === 'organization.member.updated') {
    const role = details['role']
    if (isRole(role) && !isObject(details['from'])) return words.role(subject, role)
    if (isRole(role) && isObject(details['from']) && details['from']['role'] !== role) return words.role(subject, role)
  }
  const setting = action === 'organization.updated' ? describeOnlySetting(subject, details, words) : undefined
  if (setting !== undefined) return setting
  const sentences: Partial<Record<string, (named: typeof subject) => string>> = words.acts
  const sentence = Object.hasOwn(sentences, action) ? sentences[action] : undefined
  return sentence?.(subject) ?? words.unknown(action, organization)
}

/** Names what does not exist yet, by the text that is signed. */
function namedIn({ handle, email, domain, name }: ShownAct['details']): string {
  const given = typeof handle === 'string' ? `@${handle}` : (email ?? domain ?? name)
  return typeof given === 'string' && !isMisleading(given) ? given : '…'
}

/** Says more exactly what a change of a single setting does. */
function describeOnlySetting(
  subject: { organization: string; what: string },
  details: ShownAct['details'],
  { settings }: ActWords,
): string | undefined {
  const changed = Object.entries(details).filter(([name]) => name !== 'from' && !isId(name))
  const [first] = changed
  if (!first || changed.length > 1) return undefined
  const [name, value] = first
  if (name === 'approvalsNeeded' && typeof value === 'number') {
    const before = isObject(details['from']) ? details['from']['approvalsNeeded'] : undefined
    if (value === 0) return settings.approvalsNeeded.end(subject)
    return settings.approvalsNeeded[before === 0 ? 'found' : 'change'](subject, value)
  }
  if (name === 'name' && typeof value === 'string' && !isMisleading(value)) return settings.name(subject, value)
  if ((name === 'requireSignedActions' || name === 'ssoRequired') && typeof value === 'boolean')
    return settings[name][value ? 'on' : 'off'](subject)
  return undefined
}

function isRole(value: unknown): value is Parameters<ActWords['role']>[1] {
  return typeof value === 'string' && ['owner', 'admin', 'signer', 'member', 'viewer'].includes(value)
}

function actionConsequence(
  { action, details }: Pick<ShownAct, 'action' | 'details'>,
  isOwn: boolean,
  { acts, business: words }: Words,
): string | undefined {
  if (foundersIn(details).length > 0) return acts.ends.founded
  switch (action) {
    case 'organization.signatory.suspended':
      return acts.ends.suspended
    case 'organization.council.reset_requested':
      return acts.ends.resetRequested
    case 'organization.council.reset':
      return acts.ends.reset
    case 'organization.deleted':
      return `${words.deletion.what} ${words.deletion.forever}`
    case 'organization.member.removed':
      return isOwn ? words.leaveWhat : words.removeWhat
    case 'organization.domain.removed':
      return words.domains.removeWhat
    case 'organization.key.deleted':
      return words.keys.removeWhat
    case 'sso.connection.deleted':
      return words.sso.removeWhat
    default:
      return undefined
  }
}
